package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/runner"
)

// printsAtOnce bounds the targets whose paths are looked at at the same time.
// Each has one connection open at most.
const printsAtOnce = 16

// targets are what is looked at, within the platform team's policy.
func (f *pathFlags) targets(sys system, args []string, log *slog.Logger) (config.Config, error) {
	policy, err := loadPolicy(sys)
	if err != nil {
		return config.Config{}, err
	}
	cfg, err := f.chosen(sys, args, log)
	cfg.Policy = byHand(policy)
	for i, t := range cfg.Targets {
		cfg.Targets[i] = cfg.Policy.Limits(t)
	}
	return cfg, err
}

// chosen are those targets of the config that the arguments name, all without one,
// or those of the URLs.
func (f *pathFlags) chosen(sys system, args []string, log *slog.Logger) (config.Config, error) {
	urls := 0
	for _, a := range args {
		if strings.Contains(a, "://") {
			urls++
		}
	}
	switch {
	case urls == 0 && f.caFile != "":
		return config.Config{}, errors.New("--ca-file goes with a URL; a target of the config has its own tls.ca_file")
	case urls == 0:
		return f.ofConfig(sys, args, log)
	case urls < len(args):
		return config.Config{}, errors.New("want names of the config's targets or URLs, not both at once")
	}
	return f.ofURLs(sys, args)
}

func (f *pathFlags) ofConfig(sys system, names []string, log *slog.Logger) (config.Config, error) {
	cfg, err := loadAnywhere(sys, f.config, log)
	if err != nil {
		return cfg, fmt.Errorf("%w (a URL such as https://api.example.com needs no config)", err)
	}
	if len(names) == 0 {
		return cfg, nil
	}
	var known []string
	for _, t := range cfg.Targets {
		known = append(known, t.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return cfg, fmt.Errorf("%s: not a target of %s; known targets are: %s", name, f.config, strings.Join(known, ", "))
		}
	}
	cfg.Targets = slices.DeleteFunc(cfg.Targets, func(t probes.Target) bool { return !slices.Contains(names, t.Name) })
	return cfg, nil
}

// ofURLs turns URLs into a config, so that the same checks and the usual budget
// hold. Of a URL only what decides the path is kept.
func (f *pathFlags) ofURLs(sys system, urls []string) (config.Config, error) {
	var all []any
	seen := map[string]bool{}
	for i, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			return config.Config{}, fmt.Errorf("argument %d: want an http or https URL such as https://api.example.com", i+1) // not shown: it may hold a password
		}
		origin := u.Scheme + "://" + u.Host
		if seen[origin] {
			continue
		}
		seen[origin] = true
		target := map[string]any{
			"name": fmt.Sprintf("path-%d", len(all)), "url": origin,
			"probes": []any{map[string]any{"name": "path", "kind": "http", "path": "/"}},
		}
		if f.caFile != "" {
			target["tls"] = map[string]any{"ca_file": f.caFile}
		}
		all = append(all, target)
	}
	doc, err := json.Marshal(map[string]any{"version": 1, "name": "path", "targets": all})
	if err != nil {
		return config.Config{}, err
	}
	cfg, err := config.Parse(configOptions(sys), config.File{Name: "path", Data: doc})
	if err != nil {
		return cfg, err
	}
	for i := range cfg.Targets {
		cfg.Targets[i].Name = "" // the host is what people know it by
	}
	return cfg, nil
}

// print takes the fingerprint.
func (f *pathFlags) print(ctx context.Context, sys system, cfg config.Config) probes.Fingerprint {
	v, _ := build()
	out := probes.Fingerprint{
		Format: probes.FingerprintFormat, Version: v, Taken: sys.clock().UTC(), Network: f.network(ctx, sys),
		Paths: make([]probes.PathPrint, len(cfg.Targets)),
	}
	out.Place = f.place(sys, out.Network)
	out.Place.Vantage = cfg.Vantage
	env := probes.PrintEnv{Dial: sys.dial, Resolve: sys.resolve, Policy: cfg.Policy, ReadFile: sys.readFile, Canonical: net.DefaultResolver.LookupCNAME}
	room := make(chan struct{}, printsAtOnce)
	var running sync.WaitGroup
	for i, t := range cfg.Targets {
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			out.Paths[i] = probes.TakePrint(ctx, t, out.Network, env)
		})
	}
	running.Wait()
	return out
}

// place is what the Pod's environment says of it (the manifest sets these), and
// where it does not the resolver: Kubernetes writes the namespace there.
func (f *pathFlags) place(sys system, n probes.Network) probes.Place {
	get := func(name string) string {
		v, _ := sys.env(name)
		return v
	}
	host, _ := os.Hostname() // unknown stays empty
	p := probes.Place{
		Node: get("PERCH_NODE"), Zone: get("PERCH_ZONE"), Namespace: get("PERCH_POD_NAMESPACE"), Host: host, DebugContainer: f.beside,
	}
	if p.Namespace == "" && n.Resolver != nil {
		p.Namespace = n.Resolver.Namespace()
	}
	return p
}

// network is what all paths share. What cannot be read is unknown.
func (f *pathFlags) network(ctx context.Context, sys system) probes.Network {
	n := probes.Network{Sidecar: runner.Sidecar(ctx), Links: links()}
	if text, err := sys.readFile("/etc/resolv.conf"); err == nil {
		r := probes.ParseResolver(text)
		n.Resolver = &r
	}
	v4, _ := sys.readFile("/proc/net/route")
	v6, _ := sys.readFile("/proc/net/ipv6_route")
	n.Routes = probes.ParseRoutes(v4, v6)
	if !f.beside {
		proxy := probes.ReadProxyEnv(sys.env)
		n.Proxy = &proxy
	}
	return n
}

// links are this machine's interfaces, without loopback.
func links() (all []probes.Attached) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil || i.Flags&net.FlagLoopback != 0 || i.Flags&net.FlagUp == 0 || len(addresses) == 0 {
			continue
		}
		l := probes.Attached{Name: i.Name, MTU: i.MTU}
		for _, a := range addresses {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				l.Prefixes = append(l.Prefixes, p)
			}
		}
		all = append(all, l)
	}
	return all
}
