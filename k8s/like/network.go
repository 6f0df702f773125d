package like

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// enforced is the label of a Namespace with the level of Pod Security that it
// keeps.
const enforced = "pod-security.kubernetes.io/enforce"

// network copies what decides how a Pod is connected, and how it finds names.
func (b *builder) network() error {
	spec, to := b.w.template.Spec, &b.path.Pod
	if spec.HostNetwork {
		to.HostNetwork = true
		b.copied("hostNetwork", "the workload leaves with its node's address")
		b.onTheHost()
	}
	if spec.DNSPolicy != "" && spec.DNSPolicy != corev1.DNSClusterFirst {
		to.DNSPolicy = spec.DNSPolicy
		b.copied("dnsPolicy "+string(spec.DNSPolicy), "it decides who is asked for names")
	}
	if spec.DNSConfig != nil {
		to.DNSConfig = spec.DNSConfig.DeepCopy()
		b.copied("dnsConfig", "its servers, search domains and options decide which address a name has")
	}
	if len(spec.HostAliases) > 0 {
		to.HostAliases = slices.Clone(spec.HostAliases)
		b.copied("hostAliases", "they decide which address a name has, before any server is asked")
	}
	b.sysctls(spec)
	b.pullSecrets(spec)
	return nil
}

// onTheHost says what it means to share the node's network.
func (b *builder) onTheHost() {
	level := b.app.spaceLabels[enforced]
	switch level {
	case "restricted", "baseline":
		b.left("Pod Security", "the Namespace enforces %s, which forbids hostNetwork: perch's Pod will be refused, unless an exemption that lets the workload in holds for perch too", level)
	case "privileged":
	default:
		b.left("Pod Security", "the levels restricted and baseline forbid hostNetwork: if the Namespace enforces one, perch's Pod is refused")
	}
	b.left("NetworkPolicies", "most network plugins enforce none for a Pod on its node's network, so perch's own does not hold it back either; perch serve listens on the node's port 9877")
}

// sysctls copies the network's: keep-alive times, for example, are what perch is
// there to compare.
func (b *builder) sysctls(spec corev1.PodSpec) {
	if spec.SecurityContext == nil {
		return
	}
	var names []string
	security := &corev1.PodSecurityContext{}
	for _, s := range spec.SecurityContext.Sysctls {
		if strings.HasPrefix(s.Name, "net.") {
			security.Sysctls = append(security.Sysctls, s)
			names = append(names, s.Name)
		}
	}
	if len(names) > 0 {
		b.path.Pod.SecurityContext = security
		b.copied("sysctls "+inWords(names), "they set the Pod's own TCP, its keep-alive for example")
	}
}

// pullSecrets copies those of the Pod and of its account: perch's image may come
// from the same registry.
func (b *builder) pullSecrets(spec corev1.PodSpec) {
	secrets := slices.Clone(spec.ImagePullSecrets)
	if account, found := accountOf(b.in, b.app); found {
		var more []corev1.LocalObjectReference
		if account.decode(&more, "imagePullSecrets") == nil {
			secrets = append(secrets, more...)
		}
	}
	var kept []corev1.LocalObjectReference
	for _, s := range secrets {
		if s.Name != "" && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	if len(kept) > 0 {
		b.path.Pod.ImagePullSecrets = kept
		b.copied("imagePullSecrets", "perch's image may come from the same registry")
	}
}
