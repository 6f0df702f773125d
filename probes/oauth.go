package probes

import "net/url"

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
