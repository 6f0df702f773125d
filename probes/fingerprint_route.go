package probes

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Route is a default route: where everything goes that no other route takes.
type Route struct {
	Family    IPFamily   `json:"family"`
	Interface string     `json:"interface"`
	Gateway   netip.Addr `json:"gateway,omitzero"` // absent: none, the network is reached directly
	metric    int
}

// IPFamily is an address family.
type IPFamily string

// The address families.
const (
	IPv4 IPFamily = "ipv4"
	IPv6 IPFamily = "ipv6"
)

// FamilyOf returns the family of an address.
func FamilyOf(a netip.Addr) IPFamily {
	if a.Unmap().Is4() {
		return IPv4
	}
	return IPv6
}

// ParseRoutes reads the default routes, the best of each family, from Linux's
// /proc/net/route and /proc/net/ipv6_route; either may be empty.
func ParseRoutes(v4, v6 []byte) []Route {
	var all []Route
	for _, family := range [][]Route{routes(v4, route4), routes(v6, route6)} {
		if len(family) > 0 {
			all = append(all, slices.MinFunc(family, func(a, b Route) int { return a.metric - b.metric }))
		}
	}
	return all
}

func routes(text []byte, read func([]string) (Route, bool)) (all []Route) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if r, ok := read(strings.Fields(lines.Text())); ok {
			all = append(all, r)
		}
	}
	return all
}

// Flags of a route (linux/route.h): RTF_UP, and RTF_REJECT, with which the
// kernel itself answers where there is no IPv6.
const (
	routeUp     = 0x1
	routeReject = 0x200
)

// route4 reads: interface, destination, gateway, flags, refcnt, use, metric,
// mask... Addresses are hexadecimal words in the machine's order of bytes.
func route4(f []string) (Route, bool) {
	if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
		return Route{}, false
	}
	gateway, err := strconv.ParseUint(f[2], 16, 32)
	flags, flagsErr := strconv.ParseUint(f[3], 16, 32)
	if err != nil || flagsErr != nil || flags&routeUp == 0 || flags&routeReject != 0 {
		return Route{}, false
	}
	r := Route{Family: IPv4, Interface: f[0]}
	r.metric, _ = strconv.Atoi(f[6]) // unknown counts as the best
	if gateway != 0 {
		var b [4]byte
		binary.NativeEndian.PutUint32(b[:], uint32(gateway))
		r.Gateway = netip.AddrFrom4(b)
	}
	return r, true
}

// route6 reads: destination, its length, source, its length, next hop, metric,
// refcnt, use, flags, interface.
func route6(f []string) (Route, bool) {
	if len(f) < 10 || f[1] != "00" || strings.Trim(f[0], "0") != "" || f[9] == "lo" {
		return Route{}, false
	}
	hop, err := hex.DecodeString(f[4])
	flags, flagsErr := strconv.ParseUint(f[8], 16, 32)
	if err != nil || len(hop) != 16 || flagsErr != nil || flags&routeUp == 0 || flags&routeReject != 0 {
		return Route{}, false
	}
	r := Route{Family: IPv6, Interface: f[9]}
	metric, _ := strconv.ParseUint(f[5], 16, 32) // unknown counts as the best
	r.metric = int(metric)
	if a := netip.AddrFrom16([16]byte(hop)); !a.IsUnspecified() {
		r.Gateway = a
	}
	return r, true
}
