package k8s

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// egress is where perch goes, and for what: TCP ports by address block; the block
// "" is any address.
type egress map[string]map[int32][]string

// open lets out to a port of a block.
func (e egress) open(block string, port int32, what string) {
	if e[block] == nil {
		e[block] = map[int32][]string{}
	}
	if !slices.Contains(e[block][port], what) {
		e[block][port] = append(e[block][port], what)
	}
}

// rules has one for each set of ports, "any address" first.
func (e egress) rules() []networking.NetworkPolicyEgressRule {
	var rules []networking.NetworkPolicyEgressRule
	for _, block := range slices.Sorted(maps.Keys(e)) {
		var rule networking.NetworkPolicyEgressRule
		for _, number := range slices.Sorted(maps.Keys(e[block])) {
			port := intstr.FromInt32(number)
			rule.Ports = append(rule.Ports, networking.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP), Port: &port})
		}
		if block != "" {
			rule.To = []networking.NetworkPolicyPeer{{IPBlock: &networking.IPBlock{CIDR: block}}}
		}
		rules = append(rules, rule)
	}
	return rules
}

// to says what opens the way to a URL: the widest block that does, and for what;
// empty: nothing.
func (e egress) to(u *url.URL) string {
	own, port, there := destination(u)
	if !there {
		return ""
	}
	address, _ := netip.ParsePrefix(own)
	for _, block := range slices.Sorted(maps.Keys(e)) {
		around, err := netip.ParsePrefix(block)
		what := slices.Sorted(slices.Values(e[block][port]))
		switch {
		case len(what) == 0:
		case block == "":
			return fmt.Sprintf("port %d to any address, for %s", port, strings.Join(what, ", "))
		case err == nil && address.IsValid() && around.Contains(address.Addr()):
			return fmt.Sprintf("port %d to %s, for %s", port, block, strings.Join(what, ", "))
		}
	}
	return ""
}

// theAPIServer is what the state's ConfigMap needs.
const theAPIServer = "the API server (state.configmap)"

// apiServer is the address blocks of the API server: "" where nobody said them.
func (b *maker) apiServer() []string {
	var blocks []string
	for _, text := range b.o.APIServer {
		block, err := netip.ParsePrefix(text)
		if address, bare := netip.ParseAddr(text); bare == nil {
			block, err = address.Unmap().WithZone("").Prefix(address.Unmap().BitLen())
		}
		if err != nil || block.Addr().Is4In6() {
			b.refuse("--api-server %q: want an address or a block of them, such as 10.0.0.1 or 10.0.0.0/28", text)
			continue
		}
		blocks = append(blocks, block.Masked().String())
	}
	if len(blocks) == 0 {
		return []string{""}
	}
	return blocks
}

// sayOverlap tells where the ports that perch needs for itself let it out to a
// target to which the application's policies may not let the application.
func (b *maker) sayOverlap(isolated bool, e egress) {
	if !isolated {
		return
	}
	targets := map[string][]string{} // by what of perch's opens the way to them
	for _, t := range b.cfg.Targets {
		if opened := e.to(t.URL); opened != "" {
			targets[opened] = append(targets[opened], t.Name)
		}
	}
	for _, opened := range sortedKeys(targets) {
		remedy := ""
		if len(b.o.APIServer) == 0 && strings.Contains(opened, theAPIServer) {
			remedy = ". --api-server ADDRESS opens it to the API server alone (kubectl get -n default svc,endpointslices kubernetes)"
		}
		b.note("target %s: perch's own NetworkPolicy opens %s. Where the application's policies keep the application from this target, perch gets there all the same, and passes%s",
			strings.Join(targets[opened], ", "), opened, remedy)
	}
}
