package probes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

// maxTokenAnswer bounds what a token endpoint may answer, in bytes.
const maxTokenAnswer = 256 << 10

// FetchToken asks a spec's token endpoint for a token, once. Its error is a
// *TokenError; a *Denied when the policy does not allow the request; the fence's; the
// context's; or says what of the config could not be read.
func FetchToken(ctx context.Context, s *Spec, env Env) (Token, error) {
	o := s.OAuth
	secret, err := env.Secrets(o.Secret)
	if err != nil {
		return Token{}, misfits("reading oauth2.client_secret: %v", err)
	}
	trip, err := newTokenTrip(s, env)
	if err != nil {
		return Token{}, misfits("%v", err)
	}
	c := clientcredentials.Config{
		ClientID: o.ClientID, ClientSecret: secret.Reveal(), TokenURL: o.TokenURL.String(), Scopes: o.Scopes, AuthStyle: oauth2.AuthStyleInHeader,
	}
	if o.InBody {
		c.AuthStyle = oauth2.AuthStyleInParams
	}
	if o.Audience != "" {
		c.EndpointParams = url.Values{"audience": {o.Audience}}
	}
	client := &http.Client{
		Transport:     trip,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the secret goes nowhere else
	}
	got, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return Token{}, trip.failed(ctx, err)
	}
	return trip.checked(got)
}

// tokenTrip carries token requests over perch's own connections: the same dial,
// proxy, policy, timeouts and bounds as a probe's.
type tokenTrip struct {
	call   *call
	barred error // by the fence
}

func newTokenTrip(s *Spec, env Env) (*tokenTrip, error) {
	asked := &Spec{
		Target: s.Target, Probe: s.Probe, Kind: KindHTTP, Method: http.MethodPost, URL: s.OAuth.TokenURL, Timeouts: s.Timeouts,
		MaxBody: maxTokenAnswer, Expect: &expect.Set{}, TLS: TLS{MinVersion: s.TLS.MinVersion},
		Way: Way{Proxy: s.Way.Proxy, Family: s.Way.Family, Source: s.Way.Source},
	}
	same := s.URL != nil && sameOrigin(s.URL, s.OAuth.TokenURL)
	if same {
		asked.TLS, asked.Way.Socket = s.TLS, s.Way.Socket
	}
	env.Slots, env.Settler, env.Learn, env.Watch, env.Own = ownBudget{env.barred}, nil, nil, nil, nil
	c := &call{spec: asked, env: env}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if c.tls != nil && !same && s.TLS.CAFile != "" {
		// A company's authority often stands behind both; a public one stays trusted.
		pem, err := env.ReadFile(s.TLS.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading tls.ca_file: %w", err)
		}
		if c.tls.RootCAs, err = x509.SystemCertPool(); err != nil {
			c.tls.RootCAs = x509.NewCertPool()
		}
		c.tls.RootCAs.AppendCertsFromPEM(pem)
	}
	return &tokenTrip{call: c}, nil
}

// ownBudget is the budget of what was counted in one of its own: only the fence
// holds it back.
type ownBudget struct{ barred func() error }

func (b ownBudget) Send(ctx context.Context, _ Role) error { return cmp.Or(b.barred(), ctx.Err()) }
func (ownBudget) HoldUntil(time.Time) bool                 { return true }
func (ownBudget) Together(ctx context.Context) error       { return ctx.Err() }
func (b ownBudget) Dial(ctx context.Context, role Role) (func(), error) {
	return func() {}, b.Send(ctx, role)
}

// RoundTrip makes one exchange on a connection of its own.
func (t *tokenTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	c, ctx := t.call, r.Context()
	if err := t.encrypted(); err != nil {
		return nil, err
	}
	x := c.open(ctx, RoleWarm)
	defer x.close()
	switch {
	case x.denied != nil:
		t.barred = c.env.barred()
		return nil, x.denied
	case x.conn == nil:
		return nil, t.error(string(x.attempt.Reason) + ": " + x.attempt.Detail)
	}
	r = r.Clone(ctx)
	r.Header.Set("User-Agent", c.env.UserAgent)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Connection", "close")
	var refused error
	answer, e := x.conn.Exchange(ctx, wire.Request{
		HTTP: r, MaxHead: maxHead, MaxBody: maxTokenAnswer, Timeout: c.spec.Timeouts.Response,
		Gate: func(context.Context) error {
			// Its method is the protocol's own, whatever the policy allows of a probe's.
			t.barred = c.env.barred()
			refused = cmp.Or(t.barred, c.env.Policy.Host(r.URL.Hostname()))
			return refused
		},
	})
	switch reason := Classify(e); {
	case refused != nil:
		return nil, refused
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case reason != ReasonOK:
		return nil, t.error(string(reason) + ": " + Explain(e))
	}
	return &http.Response{
		StatusCode: answer.Status, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(answer.Body)), Request: r,
		ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(answer.Body)),
	}, nil
}

func (t *tokenTrip) error(why string) error {
	return &TokenError{"the token endpoint at " + t.call.url.Hostname() + ": " + why}
}

// failed makes the library's errors, which repeat answers, perch's own.
func (t *tokenTrip) failed(ctx context.Context, err error) error {
	var denied *Denied
	var ours *TokenError
	var said *oauth2.RetrieveError
	switch {
	case t.barred != nil:
		return t.barred
	case errors.As(err, &denied):
		return denied
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &said) && said.Response != nil:
		why := fmt.Sprintf("it answered %d", said.Response.StatusCode)
		if code := errorCode(said.ErrorCode); code != "" {
			why += " (" + code + ")"
		}
		return t.error(why)
	}
	return t.error("its answer holds no token")
}

// errorCode is an error code of RFC 6749 or RFC 8707; empty: another word. An answer
// may hold anything, the client's secret too.
func errorCode(code string) string {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target",
		"access_denied", "server_error", "temporarily_unavailable":
		return code
	}
	return ""
}

// checked is what can be sent as a bearer token.
func (t *tokenTrip) checked(got *oauth2.Token) (Token, error) {
	if !strings.EqualFold(got.Type(), "Bearer") {
		return Token{}, t.error("its token is no bearer token")
	}
	if strings.ContainsFunc(got.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return Token{}, t.error("its token cannot be sent in a header")
	}
	return Token{Secret: NewSecret(got.AccessToken), Got: time.Now(), Expires: got.Expiry.Round(0)}, nil
}
