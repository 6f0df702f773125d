package config

import (
	"net/netip"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestWayIsTakenOver holds every value of a way, and what stands where none is
// written.
func TestWayIsTakenOver(t *testing.T) {
	c, err := Parse(Options{}, File{Name: "w.yaml", Data: []byte(`version: 1
targets:
  - name: a
    url: https://api.example/v1
    proxy: socks5h://proxy.example:1080
    ip_family: prefer_ipv6
    probes:
      - {name: proxied, kind: http, proxy_credentials: {from: {env: PROXY_LOGIN}}, source_address: 10.0.0.7}
      - {name: socket, kind: http, proxy: none, ip_family: any, unix_socket: /run/api.sock}
      - {name: all, kind: http, proxy: none, addresses: all}
  - name: b
    url: https://api.example/v1
    probes: [{name: built-in, kind: http}]
`)})
	if err != nil {
		t.Fatal(err)
	}
	proxied, socket, all, builtIn := c.Targets[0].Probes[0].Way, c.Targets[0].Probes[1].Way, c.Targets[0].Probes[2].Way, c.Targets[1].Probes[0].Way
	if proxied.Proxy.URL.String() != "socks5h://proxy.example:1080" || proxied.Proxy.Environment || proxied.Proxy.Credentials.Env != "PROXY_LOGIN" ||
		proxied.Source != netip.MustParseAddr("10.0.0.7") || proxied.Family != probes.IPv6First || proxied.Addresses != probes.AddressesOne {
		t.Errorf("proxied: %+v", proxied)
	}
	if socket.Socket != "/run/api.sock" || socket.Proxy.URL != nil || socket.Family != probes.IPAny {
		t.Errorf("socket: %+v", socket)
	}
	if all.Addresses != probes.AddressesAll || all.Family != probes.IPv6First {
		t.Errorf("all: %+v", all)
	}
	if !builtIn.Proxy.Environment || builtIn.Proxy.URL != nil || builtIn.Addresses != probes.AddressesOne || builtIn.Family != probes.IPAny {
		t.Errorf("built in: %+v", builtIn)
	}
}

// TestAddressHasNoOthers: addresses: all says nothing of a host that is one, which
// is no mistake: the same config may hold for both.
func TestAddressHasNoOthers(t *testing.T) {
	c, err := Parse(Options{}, File{Name: "w.yaml", Data: []byte(`version: 1
targets:
  - {name: a, url: "https://192.0.2.1/v1", probes: [{name: p, kind: http, addresses: all}]}
`)})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, w := range c.Warnings {
		found = found || strings.Contains(w, "targets[0].probes[0].addresses: the url's host is an address: it has no others")
	}
	if !found {
		t.Errorf("warnings: %v", c.Warnings)
	}
}
