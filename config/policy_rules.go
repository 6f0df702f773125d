package config

import (
	"fmt"
	"net/netip"
	"strings"

	"perch.example/probes"
)

// obey refuses what the policy does not allow of a target, where it is written.
func (c *checker) obey(t targetSettings, out probes.Target) {
	p := c.options.Policy
	if p == nil {
		return
	}
	if out.URL != nil {
		at := c.at(t.Place, "url")
		c.allowed(at, p.Host(out.URL.Hostname()))
		if a, err := netip.ParseAddr(out.URL.Hostname()); err == nil {
			c.allowed(at, p.Address(a))
		}
	}
	c.obeyBudget(t, out)
	for i, s := range out.Probes {
		at := t.Probes[i].Place
		if s.GRPC == nil { // its POST is the protocol's
			c.allowed(c.at(at, "method"), p.Method(s.Method))
		}
		for _, h := range s.Holds {
			c.allowed(c.at(at, "holds"), p.Hold(h))
		}
		if s.TLS.ServerName != "" {
			c.allowed(c.at(at, "tls"), p.Host(s.TLS.ServerName))
		}
		c.obeyWay(s, at)
		c.obeyOAuth(s, at)
		if s.Every > 0 && s.Every < p.MinEvery {
			c.beyond(c.at(at, "every"), "every is "+probes.Spoken(s.Every), "min_every", probes.Spoken(p.MinEvery)+" or more, or always: a run then leaves out what ran within it")
		}
	}
}

func (c *checker) obeyBudget(t targetSettings, out probes.Target) {
	p, most := c.options.Policy, c.options.Policy.Limits(out)
	if host := p.HostLimit(out); host != nil && out.RateLimit > most.RateLimit {
		c.wrong(c.at(t.Place, "rate_limit"), fmt.Sprintf("rate_limit is %s, and the host allows everybody less (%s)", perSecond(float64(out.RateLimit)), p.AtHost(*host)),
			"want "+perSecond(host.RateLimit)+" or less")
	}
	if p.MaxShare > 0 && out.Share > p.MaxShare {
		c.beyond(c.at(t.Place, "share"), "share is "+inPercent(out.Share), "max_share", inPercent(p.MaxShare)+" or less")
	}
	if p.MaxRate > 0 && out.Budget() > p.MaxRate*(1+1e-9) {
		c.beyond(c.at(t.Place, "rate_limit"), fmt.Sprintf("rate_limit x share is %s", perSecond(out.Budget())), "max_rate", perSecond(p.MaxRate)+" or less")
	}
	if out.DailyLimit > most.DailyLimit {
		c.beyond(c.at(t.Place, "daily_limit"), fmt.Sprintf("daily_limit is %d", out.DailyLimit), "max_daily_limit", fmt.Sprintf("%d or less", most.DailyLimit))
	}
	if out.MaxConnections > most.MaxConnections {
		c.beyond(c.at(t.Place, "max_connections"), fmt.Sprintf("max_connections is %d", out.MaxConnections), "max_connections", fmt.Sprintf("%d or less", most.MaxConnections))
	}
}

// atHost is what the targets at one host may do together: a budget that is cut
// into many targets is no smaller.
type atHost struct {
	host  string
	at    place // of the last one
	names []string
	most  probes.Target // the sums, and the smallest rate limit
}

// obeyTogether refuses what the targets at one host would do together.
func (c *checker) obeyTogether(written []targetSettings, targets []probes.Target) {
	p := c.options.Policy
	if p == nil || len(c.mistakes) > 0 {
		return
	}
	for _, h := range byHost(written, targets) {
		if len(h.names) < 2 {
			continue
		}
		is := func(what string) string {
			return fmt.Sprintf("%s at %s %s together", strings.Join(h.names, ", "), h.host, what)
		}
		if rate := h.most.Budget(); p.MaxRate > 0 && rate > p.MaxRate*(1+1e-9) {
			c.beyond(h.at, is("may send "+perSecond(rate)), "max_rate", perSecond(p.MaxRate)+" or less")
		}
		if p.MaxShare > 0 && h.most.Share > p.MaxShare*(1+1e-9) {
			c.beyond(h.at, is("have a share of "+inPercent(h.most.Share)), "max_share", inPercent(p.MaxShare)+" or less")
		}
		if p.MaxDailyLimit > 0 && h.most.DailyLimit > p.MaxDailyLimit {
			c.beyond(h.at, is(fmt.Sprintf("may send %d requests a day", h.most.DailyLimit)), "max_daily_limit", fmt.Sprintf("%d or less", p.MaxDailyLimit))
		}
		if p.MaxConnections > 0 && h.most.MaxConnections > p.MaxConnections {
			c.beyond(h.at, is(fmt.Sprintf("may open %d connections", h.most.MaxConnections)), "max_connections", fmt.Sprintf("%d or less", p.MaxConnections))
		}
	}
}

// byHost sums up the targets of each host, in the order of the first of each.
func byHost(written []targetSettings, targets []probes.Target) []*atHost {
	var all []*atHost
	sums := map[string]*atHost{}
	for i, t := range targets {
		if t.URL == nil {
			continue
		}
		host := probes.CanonicalHost(t.URL.Hostname())
		h := sums[host]
		if h == nil {
			h = &atHost{host: host, most: probes.Target{RateLimit: t.RateLimit}}
			sums[host], all = h, append(all, h)
		}
		h.at, h.names = written[i].Place, append(h.names, t.Name)
		budget := h.most.Budget() + t.Budget()
		h.most.RateLimit = min(h.most.RateLimit, t.RateLimit)
		h.most.Share = budget / float64(h.most.RateLimit)
		h.most.DailyLimit += t.DailyLimit
		h.most.MaxConnections += t.MaxConnections
	}
	return all
}

// allowed tells what the policy denies.
func (c *checker) allowed(at place, err error) {
	if err != nil {
		c.wrong(at, err.Error(), "")
	}
}

// beyond tells what is more, or more often, than the policy allows. What nobody
// wrote is the built-in value, which then has to be.
func (c *checker) beyond(at place, is, rule, want string) {
	c.wrong(at, is+", which is beyond the policy ("+c.options.Policy.At(rule)+")", "want "+want)
}

func perSecond(rate float64) string { return fmt.Sprintf("%.4g/s", rate) }

func inPercent(share float64) string { return fmt.Sprintf("%.4g%%", share*100) }
