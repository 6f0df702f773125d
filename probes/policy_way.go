package probes

// Socket refuses a unix socket where the policy says which hosts or networks may
// be called: behind a socket there is neither, whatever the URL names.
func (p *Policy) Socket(path string) error {
	if p == nil {
		return nil
	}
	rule := p.restricts()
	if rule == "" && len(p.Hosts) > 0 {
		rule = "hosts"
	}
	if rule == "" {
		return nil
	}
	return p.deny(rule, "the socket %q: it has no address", path)
}

// Unseen refuses a name whose address perch does not learn, since a proxy looks
// it up, where the policy says which networks may be called.
func (p *Policy) Unseen(host string) error {
	if p == nil {
		return nil
	}
	if rule := p.restricts(); rule != "" {
		return p.deny(rule, "the host %q through a proxy that looks up its address: perch cannot check that; socks5:// lets perch look it up", CanonicalHost(host))
	}
	return nil
}

// restricts is the rule about addresses; empty: there is none.
func (p *Policy) restricts() string {
	switch {
	case len(p.Networks) > 0:
		return "networks"
	case len(p.DeniedNetworks) > 0:
		return "denied_networks"
	default:
		return ""
	}
}
