package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// resolveWithin bounds asking where a URL leads, before anything is held.
const resolveWithin = 5 * time.Second

// deniedPath returns why the policy lets nobody go where a URL leads; nil: it
// does, or the host's addresses are not known, which the measurement then says.
// A host that is denied is not even resolved.
func deniedPath(ctx context.Context, p *probes.Policy, host string) error {
	if err := p.Host(host); err != nil || p == nil {
		return err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return p.Address(a)
	}
	if len(p.Networks) == 0 && len(p.DeniedNetworks) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	var denied error
	for _, a := range addresses {
		err := p.Address(a)
		if err == nil {
			return nil // it is dialled, the others are not
		}
		denied = err
	}
	return denied
}

// byFlags words what is wrong with the config that perch idle made of its flags
// by those: it stands in no file.
func byFlags(err error) error {
	var mistakes *config.Errors
	if !errors.As(err, &mistakes) {
		return err
	}
	lines := make([]string, len(mistakes.List))
	for i, m := range mistakes.List {
		lines[i] = fmt.Sprintf("idle: %s: %s", flagOf(m.Path), m.Problem)
		if m.Fix != "" {
			lines[i] += "; " + m.Fix
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// flagOf is what perch idle was given that became a key of its config.
func flagOf(path string) string {
	for key, flag := range map[string]string{
		"rate_limit": "--rate", "share": "--rate", "headers": "--header", "ca_file": "--ca-file", "tcp_keep_alive": "--tcp-keep-alive",
		"holds": "--max", "every": "--max", "max_connections": "--connections", "protocol": "--protocol", "proxy": "--proxy",
	} {
		if strings.Contains(path, "."+key) {
			return flag
		}
	}
	return "the URL"
}
