package metrics

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/push"
)

// job is the Pushgateway's job of every perch.
const job = "perch"

// What of a gateway's error answer is read, and what of that is shown.
const (
	maxAnswer  = 64 << 10
	maxRefusal = 500
)

// Push replaces this perch's group on a Pushgateway: job="perch", perch=NAME,
// vantage=VANTAGE, and shard=SHARD where it is a shard's. header is sent with it; its values, and the URL's path, may
// be secrets and never stand in an error. ctx bounds the whole push; a nil
// client means one with the defaults.
func (m *Metrics) Push(ctx context.Context, gateway string, header http.Header, client *http.Client) error {
	u, err := url.Parse(gateway)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The parser's own error repeats the URL, password included.
		return errors.New("pushing metrics: the push URL is not an http or https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("pushing metrics: the push URL has a user, a query or a fragment: a user goes into a header, and the others have no place in a Pushgateway's path")
	}
	body, err := m.bare.delimited()
	if err != nil {
		return fmt.Errorf("pushing metrics: %w", err)
	}
	g := newGate(client, body)
	g.hidden = hidden(u, header)
	p := push.New(u.String(), job).
		Grouping("perch", m.name).Grouping("vantage", m.vantage).
		Client(g).Header(header.Clone()) // nil: none
	if m.shard != "" {
		p.Grouping("shard", m.shard)
	}
	if err := p.PushContext(ctx); err != nil {
		return fmt.Errorf("pushing metrics to %s: %w", u.Scheme+"://"+u.Host, g.scrub(err))
	}
	return nil
}

// gate stands between the pusher and the network. The pusher makes the
// request, and gate its body: the pusher gathers all series before it encodes the first,
// which takes many times the memory of what it sends.
type gate struct {
	client *http.Client
	body   []byte
	hidden []string // what no error may show
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
	return gate{client: &own, body: body}
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
	content, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // for people only: what came is shown
	// Hidden before it is cut, and quoted: half of a secret, or one whose signs
	// are written otherwise, would be found no more.
	said := strings.TrimSpace(g.hide(string(content)))
	return nil, fmt.Errorf("status %d, want 200 or 202: %q", resp.StatusCode, said[:min(len(said), maxRefusal)])
}

// scrub takes the URL out of a client's error, and what is hidden out of the
// rest.
func (g gate) scrub(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if said := g.hide(err.Error()); said != err.Error() {
		return errors.New(said)
	}
	return err
}

func (g gate) hide(text string) string {
	for _, secret := range g.hidden {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
}

// hidden are the URL's path and its parts, and the values of a header, whole and
// word by word: before the secret stands a scheme such as "Bearer". The longest
// come first, since one may hold another.
func hidden(u *url.URL, header http.Header) []string {
	const shortest = 4 // what is shorter is no secret, and would blot out ordinary words
	parts := []string{u.EscapedPath(), u.Path, strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(u.Path, "/")}
	parts = append(parts, strings.Split(u.Path, "/")...)
	parts = append(parts, strings.Split(u.EscapedPath(), "/")...)
	for _, values := range header {
		for _, value := range values {
			parts = append(append(parts, value), strings.Fields(value)...)
		}
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return len(part) < shortest })
	slices.SortFunc(parts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(parts)
}
