package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/prometheus/push"
)

// job is the Pushgateway's job of every perch.
const job = "perch"

// maxRefusal bounds what is read and shown of a gateway's error answer.
const maxRefusal = 500

// Push replaces this perch's group on a Pushgateway: job="perch", perch=NAME,
// vantage=VANTAGE. Credentials may stand in the URL; they go into a header,
// and neither they nor the URL's path or query ever stand in an error. ctx
// bounds the whole push; a nil client means one with the defaults.
func (m *Metrics) Push(ctx context.Context, gateway string, client *http.Client) error {
	u, err := url.Parse(gateway)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The parser's own error repeats the URL, password included.
		return errors.New("pushing metrics: the push URL is not an http or https URL")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return errors.New("pushing metrics: the push URL has a query or fragment, which a Pushgateway's path cannot take")
	}
	user := u.User
	u.User = nil
	body, err := m.bare.delimited()
	if err != nil {
		return fmt.Errorf("pushing metrics: %w", err)
	}
	p := push.New(u.String(), job).
		Grouping("perch", m.name).Grouping("vantage", m.vantage).
		Client(newGate(client, body))
	if user != nil {
		password, _ := user.Password()
		p.BasicAuth(user.Username(), password)
	}
	if err := p.PushContext(ctx); err != nil {
		return fmt.Errorf("pushing metrics to %s: %w", u.Scheme+"://"+u.Host, scrub(err, user))
	}
	return nil
}

// gate stands between the pusher and the network. The pusher makes the
// request, and gate its body: the pusher gathers all series before it encodes the first,
// which takes many times the memory of what it sends.
type gate struct {
	client *http.Client
	body   []byte
}

// newGate follows no redirect: a client turns a redirected PUT into a GET,
// which a gateway may well answer with 200, and nothing would have been
// stored.
func newGate(c *http.Client, body []byte) gate {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return gate{&own, body}
}

// Do turns an answer other than 200 and 202 into an error of its own: the
// pusher's would name the whole URL and read the answer without bound.
func (g gate) Do(r *http.Request) (*http.Response, error) {
	r.ContentLength = int64(len(g.body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(g.body)), nil }
	r.Body, _ = r.GetBody()
	resp, err := g.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusAccepted {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // for people only: what came is shown
	return nil, fmt.Errorf("status %d, want 200 or 202: %q", resp.StatusCode, strings.TrimSpace(string(body)))
}

// scrub takes the URL out of a client's error, and the password out of what
// is left, should a gateway have echoed it.
func scrub(err error, user *url.Userinfo) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if user == nil {
		return err
	}
	password, set := user.Password()
	if !set || password == "" || !strings.Contains(err.Error(), password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), password, "[secret]"))
}
