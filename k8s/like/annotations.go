package like

import (
	"maps"
	"slices"
	"strings"
)

// annotations copies those that a mesh, a network plugin or a cloud reads to
// decide how a Pod's traffic leaves. All others stay: what scrapes, restarts or
// tracks the workload must not do so with perch.
func (b *builder) annotations() error {
	from := b.w.template.Annotations
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if ofThePod(key) {
			continue
		}
		if why := decides(key); why != "" {
			if address := strings.Contains(key, "cni.cncf.io/") && fixesAddress(from[key]); address {
				b.left("annotation "+key, "it gives the workload's Pod an address of its own, which two Pods cannot have; attach perch to the same network by hand, with another address")
				continue
			}
			b.path.Annotations[key] = from[key]
			b.copied("annotation "+key, "%s", why)
		}
	}
	return nil
}

// decides says what an annotation decides; empty: nothing of the path.
func decides(key string) string {
	for _, of := range []struct{ prefix, why string }{
		{"sidecar.istio.io/", "it configures the sidecar"},
		{"traffic.sidecar.istio.io/", "it decides which traffic goes through the sidecar"},
		{"ambient.istio.io/", "it configures the mesh"},
		{"proxy.istio.io/config", "it configures the sidecar"},
		{"inject.istio.io/templates", "it chooses the sidecar that is injected"},
		{"linkerd.io/inject", "it decides whether a sidecar is injected"},
		{"config.linkerd.io/", "it configures the sidecar"},
		{"config.alpha.linkerd.io/", "it configures the sidecar"},
		{"config.beta.linkerd.io/", "it configures the sidecar"},
		{"kuma.io/", "it configures the sidecar"},
		{"azure.workload.identity/", "it decides as whom the Pod calls Azure"},
		{"k8s.v1.cni.cncf.io/networks", "it attaches the Pod to more networks"},
		{"v1.multus-cni.io/default-network", "it chooses the Pod's network"},
		{"cni.projectcalico.org/ipv4pools", "it chooses the pool of the Pod's address, and with it how the address is translated"},
		{"cni.projectcalico.org/ipv6pools", "it chooses the pool of the Pod's address"},
		{"egress.projectcalico.org/", "it chooses the egress gateway"},
		{"ipam.antrea.io/ippools", "it chooses the pool of the Pod's address"},
		{"ovn.kubernetes.io/logical_switch", "it chooses the Pod's network"},
		{"networking.gke.io/interfaces", "it attaches the Pod to more networks"},
		{"networking.gke.io/default-interface", "it chooses the network that traffic leaves by"},
		{"kubernetes.io/egress-bandwidth", "it limits what the Pod sends"},
		{"kubernetes.io/ingress-bandwidth", "it limits what the Pod receives"},
	} {
		if key == of.prefix || (strings.HasSuffix(of.prefix, "/") && strings.HasPrefix(key, of.prefix)) {
			return of.why
		}
	}
	return ""
}

// ofThePod reports whether an annotation is not the path's, though it looks so:
// written by an injector or a plugin about the one Pod that it stands on (an
// injector would pass a new Pod by that has it), or a container for debugging,
// which would keep a Job from ending.
func ofThePod(key string) bool {
	return slices.Contains([]string{
		"sidecar.istio.io/status", "ambient.istio.io/redirection", "kuma.io/sidecar-injected", "k8s.v1.cni.cncf.io/networks-status",
		"config.linkerd.io/enable-debug-sidecar",
	}, key)
}

// fixesAddress reports whether an attachment of networks names addresses.
func fixesAddress(value string) bool {
	return strings.Contains(value, `"ips"`) || strings.Contains(value, `"mac"`)
}
