package probes

import (
	"net/url"
	"strings"
	"time"
)

// OAuth is how a probe gets its bearer token: OAuth2 client credentials.
type OAuth struct {
	TokenURL   *url.URL
	ClientID   string
	Secret     Source // the client's secret
	Scopes     []string
	Audience   string // empty: not sent
	InBody     bool   // the client's id and secret go into the body, not into an Authorization header
	DailyLimit int    // token requests in a UTC day
}

// Key tells token sources apart: what has the same key gets the same tokens.
func (o *OAuth) Key() string {
	in := "header"
	if o.InBody {
		in = "body"
	}
	return strings.Join([]string{o.TokenURL.String(), o.ClientID, o.Secret.String(), strings.Join(o.Scopes, " "), o.Audience, in}, "\x00")
}

// Host is that of the token endpoint, as hosts are compared.
func (o *OAuth) Host() string { return CanonicalHost(o.TokenURL.Hostname()) }

// Token is a bearer token. It is kept in memory only.
type Token struct {
	Secret  Secret
	Got     time.Time
	Expires time.Time // zero: the server did not say
}

// GoodAt reports whether a token may be used at an instant: it does not end
// within a minute of it, or within a tenth of its life where that is less.
func (t Token) GoodAt(at time.Time) bool {
	if t.Secret == (Secret{}) {
		return false
	}
	early := min(time.Minute, t.Expires.Sub(t.Got)/10)
	return t.Expires.IsZero() || at.Before(t.Expires.Add(-early))
}

// TokenWish says which token is wanted.
type TokenWish struct {
	At      time.Time // when it is to be used
	Refused Secret    // what the API answered 401 to: another one is wanted; zero: none
	AtOnce  bool      // whatever there is: a held connection waits for nothing
}

// TokenError says why the token endpoint gave none: the application would have
// none either. It holds no more of an answer than its status and its OAuth2 error
// code.
type TokenError struct{ Why string }

// Error gives the why.
func (e *TokenError) Error() string { return e.Why }
