package probes

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"perch.example/probes/wire"
)

// prepareWay settles by which way the step's connections go.
func (c *call) prepareWay() error {
	f, err := c.spec.Forward(c.env.Getenv)
	if err != nil || f == nil {
		return err
	}
	p := &wire.Proxy{Scheme: f.Scheme, Host: f.Host, Port: f.Port, UserAgent: c.env.UserAgent, Whole: f.Whole(c.url.Scheme, c.spec.Speaks())}
	if p.User, p.Password, err = c.proxyCredentials(f); err != nil {
		return err
	}
	if from := c.spec.Way.Proxy.Credentials; from.Zero() && f.By != byConfig {
		p.LoginBy = f.By
	}
	if most := 255; (f.Scheme == "socks5" || f.Scheme == "socks5h") && (len(p.User) > most || len(p.Password) > most) {
		return misfits("the proxy %s cannot be told the credentials of %s: SOCKS5 takes a user and a password of at most %d bytes each", p, cmp.Or(p.LoginBy, "proxy_credentials"), most)
	}
	if f.Scheme == "https" {
		p.TLS = &tls.Config{MinVersion: MinTLS, MaxVersion: MaxTLS, ServerName: f.Host, NextProtos: []string{"http/1.1"}}
		if p.TLS.RootCAs, err = roots(c.spec, c.env); err != nil {
			return err
		}
	}
	c.forward, c.proxy = f, p
	return nil
}

// proxyCredentials are those of proxy_credentials, else those that the
// environment writes into the proxy's URL, as most clients read them.
func (c *call) proxyCredentials(f *Forward) (user, password string, err error) {
	from := c.spec.Way.Proxy.Credentials
	if from.Zero() {
		if f.user != nil {
			password, _ = f.user.Password()
			user = f.user.Username()
		}
		return user, password, nil
	}
	s, err := c.env.Secrets(from)
	if err != nil {
		return "", "", fmt.Errorf("reading proxy_credentials: %w", err)
	}
	user, password, both := strings.Cut(s.Reveal(), ":")
	if !both || user == "" {
		return "", "", misfits("reading proxy_credentials: what is read there is not user:password")
	}
	return user, password, nil
}

// addWay adds the way to how a connection is opened.
func (c *call) addWay(o *wire.Options) {
	way := c.spec.Way
	o.Proxy, o.Socket, o.Source = c.proxy, way.Socket, way.Source
	o.Family = map[IPChoice]wire.Family{
		IPv4Only: wire.FamilyV4, IPv6Only: wire.FamilyV6, IPv4First: wire.FamilyV4First, IPv6First: wire.FamilyV6First,
	}[way.Family]
	if c.pinned.IsValid() {
		o.Resolve = pinned(c.pinned)
	}
}

// allowedWay asks the policy about what stands between perch and the host. The
// addresses that are dialled are asked about when they are.
func (c *call) allowedWay() error {
	p := c.env.Policy
	if c.spec.Way.Socket != "" {
		return p.Socket(c.spec.Way.Socket)
	}
	if c.forward == nil {
		return nil
	}
	if err := p.Host(c.forward.Host); err != nil {
		return err
	}
	if _, err := netip.ParseAddr(c.url.Hostname()); err == nil || !c.forward.Resolves() {
		return nil // its address is known here, and asked about
	}
	return p.Unseen(c.url.Hostname())
}

// proxyAnswered makes an answer that is the proxy's own the proxy's failure: one
// that it reads the requests of wants its credentials.
func (c *call) proxyAnswered(a *Attempt) {
	if c.proxy == nil || !c.proxy.Whole || a.Status != http.StatusProxyAuthRequired {
		return
	}
	a.Reason = ReasonProxy
	c.proxyRefused(a, a.Status, true)
	a.Detail = "the proxy " + c.proxy.String() + ": " + c.proxy.Unauthorized()
}

// pinned resolves any name to one address.
func pinned(a netip.Addr) wire.ResolveFunc {
	return func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{a}, nil }
}
