package config

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// perch idle is named where it goes the probe's own way, and with the flags for it.
func TestByHand(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: "proxy.example:3128"}
	for _, c := range []struct {
		name   string
		url    string
		change func(*probes.Spec)
		want   string // "": it would measure another way
	}{
		{"as it comes", "https://api.example/v1?key=1", func(*probes.Spec) {}, "https://api.example/v1"},
		{"h2", "https://api.example", func(s *probes.Spec) { s.Protocol = probes.ProtocolH2 }, "https://api.example --protocol h2"},
		{"h2c", "http://api.example", func(s *probes.Spec) { s.Protocol = probes.ProtocolH2C }, "http://api.example --protocol h2c"},
		{"auto", "https://api.example", func(s *probes.Spec) { s.Protocol = probes.ProtocolAuto }, "https://api.example --protocol auto"},
		{"auto is HTTP/1.1", "http://api.example", func(s *probes.Spec) { s.Protocol = probes.ProtocolAuto }, "http://api.example"},
		{"no proxy", "https://api.example", func(s *probes.Spec) { s.Way.Proxy.Environment = false }, "https://api.example --proxy none"},
		{"a proxy", "https://api.example", func(s *probes.Spec) { s.Way.Proxy = probes.Proxy{URL: proxy} }, "https://api.example --proxy http://proxy.example:3128"},
		{"a proxy that wants to know who", "https://api.example", func(s *probes.Spec) {
			s.Way.Proxy = probes.Proxy{URL: proxy, Credentials: probes.Source{Env: "PROXY"}}
		}, ""},
		{"an authority", "https://api.example", func(s *probes.Spec) { s.TLS.CAFile = "/etc/ca.pem" }, "https://api.example --ca-file /etc/ca.pem"},
		{"packets", "https://api.example", func(s *probes.Spec) { s.Client = &probes.Client{TCPKeepAlive: 90 * time.Second} }, "https://api.example --tcp-keep-alive 1m30s"},
		{"PINGs that HTTP/1.1 has not", "https://api.example", func(s *probes.Spec) { s.Client = &probes.Client{HTTP2Ping: time.Second} }, "https://api.example"},
		{"PINGs", "https://api.example", func(s *probes.Spec) {
			s.Client, s.Protocol = &probes.Client{HTTP2Ping: time.Second}, probes.ProtocolH2
		}, ""},
		{"a client certificate", "https://api.example", func(s *probes.Spec) { s.TLS.CertFile = "c.pem" }, ""},
		{"another name", "https://api.example", func(s *probes.Spec) { s.TLS.ServerName = "other.example" }, ""},
		{"a socket", "http://api.example", func(s *probes.Spec) { s.Way.Socket = "/run/s" }, ""},
		{"a source", "http://api.example", func(s *probes.Spec) { s.Way.Source = netip.MustParseAddr("192.0.2.1") }, ""},
		{"a family", "http://api.example", func(s *probes.Spec) { s.Way.Family = probes.IPv6Only }, ""},
		{"any family", "http://api.example", func(s *probes.Spec) { s.Way.Family = probes.IPAny }, "http://api.example"},
		{"gRPC", "http://api.example", func(s *probes.Spec) { s.GRPC = &probes.GRPC{} }, ""},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		s := probes.Spec{URL: u, Way: probes.Way{Proxy: probes.Proxy{Environment: true}}}
		c.change(&s)
		address, flags := byHand(s)
		if got := strings.Join(append([]string{address}, flags...), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if address, _ := byHand(probes.Spec{}); address != "" {
		t.Error(address)
	}
}

// TestPoolOfCalls: an idle probe's pool is the application's, for the prediction alone.
func TestPoolOfCalls(t *testing.T) {
	for keys, want := range map[string]int{"calls: calls.txt, connections: 7": 7, "calls: calls.txt": 0} {
		cfg := load(t, Options{}, "version: 1\ntargets:\n  - {name: a, url: http://a.example, max_connections: 3, probes: [{name: p, kind: idle, holds: [1s], "+keys+"}]}\n")
		s := cfg.Targets[0].Probes[0]
		if s.Calls != "calls.txt" || s.Pool != want || s.Burst != nil {
			t.Errorf("%s: calls %q, a pool of %d, want %d; burst %v", keys, s.Calls, s.Pool, want, s.Burst)
		}
	}
}
