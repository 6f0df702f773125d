package like

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// annotations copies those that a mesh, a network plugin or a cloud reads to
// decide how a Pod's traffic leaves. All others stay: what scrapes, restarts or
// tracks the workload must not do so with perch. Of what perch does not know it
// tells.
func (b *builder) annotations() error {
	from := b.w.template.Annotations
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(from)) {
		why, leave := decides(key), mustStay(key, from[key])
		switch {
		case ofThePod(key):
		case leave != "":
			b.left("annotation "+key, "%s", leave)
		case why == "" && foreign(key):
			unknown = append(unknown, key)
		case why == "":
		case credentialText(from[key]) || credentialIn(parsed(from[key])):
			b.left("annotation "+key, "%s, but its value holds what looks like a credential, which must not stand in another manifest: set it on perch's Pod by hand, without that", why)
		default:
			b.path.Annotations[key] = from[key]
			b.copied("annotation "+key, "%s", why)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.app.labels)) {
		later, _ := fate(key)
		if !b.perch.labels.Has(key) && !later && !slices.Contains(meshLabels(), key) && foreign(key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		b.left("annotations and labels that perch does not know", "%s: not copied; where one of them decides how the workload's traffic leaves, set it on perch's Pod by hand", inWords(unknown))
	}
	return nil
}

// parsed is the object that an annotation's value may be.
func parsed(value string) any {
	var fields any
	if yaml.Unmarshal([]byte(value), &fields) != nil {
		return nil
	}
	return fields
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
		{"ipam.cilium.io/ip-pool", "it chooses the pool of the Pod's address, and with it how the address is translated"},
		{"k8s.aliyun.com/pod-eni", "it gives the Pod a network interface of its own"},
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

// mustStay says why an annotation is not copied though something about the path
// goes by it, and what to do; empty: nothing keeps it.
func mustStay(key, value string) string {
	const address = "it gives the workload's Pod an address of its own, which two Pods cannot have; attach perch to the same network by hand, with another address"
	switch key {
	case "cni.projectcalico.org/ipAddrs", "cni.projectcalico.org/ipAddrsNoIpam", "cni.projectcalico.org/hwAddr", "cni.projectcalico.org/floatingIPs",
		"ovn.kubernetes.io/ip_address", "ovn.kubernetes.io/mac_address", "ovn.kubernetes.io/ip_pool":
		return address
	case "k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network":
		if fixesAddress(value) {
			return address
		}
	case "sidecar.istio.io/userVolume", "sidecar.istio.io/userVolumeMount", "kuma.io/service-account-token-volume":
		return "it gives the sidecar volumes, which may be the workload's Secrets and tokens; where the way out needs one of them, set it on perch's Pod by hand"
	case "sidecar.istio.io/enableCoreDump":
		return "it gives the sidecar more rights, and is not the path's"
	case "consul.hashicorp.com/connect-inject":
		return "it decides whether Consul injects a sidecar, which perch does not know how to wait for and to end: put perch's Pod into that mesh by hand, or a Job of it may never end"
	case "iam.amazonaws.com/role":
		return "it gives the Pod a role in AWS, and perch must not have the workload's rights; where a target lets in by that role, set it on perch's Pod by hand"
	}
	return ""
}

// foreign reports whether a key is one of somebody's whom perch does not know to
// keep off the path.
func foreign(key string) bool {
	domain, _, named := strings.Cut(key, "/")
	if !named || !strings.Contains(domain, ".") {
		return key == "aadpodidbinding" // Azure's, by which a Pod gets an identity
	}
	return !slices.ContainsFunc([]string{
		"kubernetes.io", "helm.sh", "prometheus.io", "argoproj.io", "fluxcd.io", "stakater.com", "karpenter.sh", "ad.datadoghq.com", "tags.datadoghq.com",
		"fluentbit.io", "co.elastic.logs", "viz.linkerd.io", "perch.example",
	}, func(known string) bool { return domain == known || strings.HasSuffix(domain, "."+known) })
}

// ofThePod reports whether an annotation is not the path's, though it looks so:
// written by an injector or a plugin about the one Pod that it stands on (an
// injector would pass a new Pod by that has it), or a container for debugging,
// which would keep a Job from ending.
func ofThePod(key string) bool {
	return slices.Contains([]string{
		"sidecar.istio.io/status", "istio.io/rev", "ambient.istio.io/redirection", "kuma.io/sidecar-injected", "k8s.v1.cni.cncf.io/networks-status",
		"k8s.v1.cni.cncf.io/network-status", "cni.projectcalico.org/containerID", "cni.projectcalico.org/podIP", "cni.projectcalico.org/podIPs",
		"linkerd.io/created-by", "linkerd.io/proxy-version", "linkerd.io/trust-root-sha256", "openshift.io/scc", "k8s.ovn.org/pod-networks",
		"vpc.amazonaws.com/pod-eni", "eks.amazonaws.com/fargate-profile", "config.linkerd.io/enable-debug-sidecar",
	}, key)
}

// fixesAddress reports whether an attachment of networks names addresses.
func fixesAddress(value string) bool {
	return strings.Contains(value, `"ips"`) || strings.Contains(value, `"mac"`)
}
