package probes

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"perch.example/probes/wire"
)

// ProxyRefusals remembers, for a run, which credentials a proxy did not accept: a
// directory locks an account after a few wrong passwords, and the application's
// with it. The zero value is ready, and safe for concurrent use.
type ProxyRefusals struct {
	mu  sync.Mutex
	all map[string]bool
}

// note remembers what the call's proxy was shown.
func (p *ProxyRefusals) note(c *call) {
	if p == nil || c.proxy == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]bool{}
	}
	p.all[c.shownToProxy()] = true
}

// denied is a *Denied where the call's proxy would be shown the same again.
func (p *ProxyRefusals) denied(c *call) error {
	if p == nil || c.proxy == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.all[c.shownToProxy()] {
		return nil
	}
	return &Denied{Why: fmt.Sprintf("the proxy %s did not let it through, and is not asked again for this host in this run", c.proxy)}
}

// shownToProxy is what a proxy decides by. The host belongs to it: some proxies
// answer 407 where good credentials are not allowed to go.
func (c *call) shownToProxy() string {
	p := c.proxy
	return strings.Join([]string{p.Scheme, p.String(), p.User, p.Password, c.url.Hostname()}, "\x00")
}

// proxyAnswer notes on an attempt what a proxy said in place of opening its
// connection; nil: none was asked, or it did.
func (c *call) proxyAnswer(a *Attempt, said *wire.ProxyAnswer) {
	if said == nil {
		return
	}
	a.ProxyAsked, a.ProxyStatus = true, said.Status
	if said.Status == http.StatusTooManyRequests || said.Status == http.StatusServiceUnavailable {
		a.RetryAfter = retryAfter(said.Header, time.Now())
	}
	c.proxyRefused(a, said.Status, said.Final)
}

// proxyRefused takes over whether a proxy would say the same again. What is about
// credentials is remembered.
func (c *call) proxyRefused(a *Attempt, status int, final bool) {
	a.ProxyFinal = final
	if final && (status == 0 || status == http.StatusProxyAuthRequired) { // SOCKS has no number for it
		c.env.Refusals.note(c)
	}
}
