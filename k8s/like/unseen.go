package like

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unseen says what the input does not hold, and what of it perch cannot read. An
// object that is not there could have decided the path as well.
func (b *builder) unseen() error {
	has := map[string]bool{}
	unread := map[string][]object{}
	for _, o := range b.in {
		if !readable(o) { // Calico has a NetworkPolicy, too
			unread[o.GetKind()] = append(unread[o.GetKind()], o)
			continue
		}
		has[o.GetKind()] = true
	}
	b.quota()
	for _, kind := range slices.Sorted(maps.Keys(unread)) {
		b.left(listed(unread[kind]), "perch does not read %s: if it selects the workload's Pods for what they send, let it select %s=%s, too", kind, pathLabel, b.o.Name)
	}
	var missing []string
	for _, kind := range []string{"NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler", "ServiceAccount", "Namespace"} {
		if !has[kind] {
			missing = append(missing, kind)
		}
	}
	if len(missing) > 0 {
		b.left("not in the input", "%s: if the cluster has one that concerns the workload, it was not considered. To collect them: %s", inWords(missing), collect(b.w))
	}
	return nil
}

// quota says which limits a ResourceQuota asks of each Pod that perch's has not.
func (b *builder) quota() {
	for _, o := range b.in {
		if !o.is("", "ResourceQuota") || !o.in(b.app.namespace) {
			continue
		}
		hard := within(within(o.Object, "spec"), "hard")
		var asked []string
		for _, key := range []string{"limits.cpu", "limits.ephemeral-storage", "requests.ephemeral-storage"} {
			if hard[key] != nil {
				asked = append(asked, key)
			}
		}
		if len(asked) > 0 {
			b.left(o.String(), "it asks for %s, which perch's Pod does not set (a CPU limit would delay perch, and look like a fault of the path): unless a LimitRange fills it in, perch's Pods are refused; set it with a patch", inWords(asked))
		}
	}
}

// readable reports whether perch knows what a kind means for a path, or that it
// means nothing.
func readable(o object) bool {
	group := o.group()
	switch group {
	case "", "apps", "batch", "policy", "autoscaling", "discovery.k8s.io", "rbac.authorization.k8s.io", "coordination.k8s.io",
		"events.k8s.io", "storage.k8s.io", "scheduling.k8s.io", "node.k8s.io", "monitoring.coreos.com", "monitoring.googleapis.com",
		"keda.sh", "autoscaling.k8s.io", "security.istio.io", "telemetry.istio.io", "argoproj.io", "gateway.networking.k8s.io",
		"cert-manager.io", "trust.cert-manager.io", "external-secrets.io", "operator.victoriametrics.com", "vpcresources.k8s.aws":
		return true
	case "networking.k8s.io":
		return true // policies are read, Ingresses lead in
	case "networking.istio.io":
		_, configures := istioSelector(o)
		return configures || slices.Contains([]string{"VirtualService", "ServiceEntry", "Gateway", "WorkloadEntry", "WorkloadGroup"}, o.GetKind())
	case "cilium.io":
		return strings.HasSuffix(o.GetKind(), "Policy") || o.GetKind() == "CiliumEndpoint" || o.GetKind() == "CiliumIdentity"
	case "policy.linkerd.io":
		return true
	case "networking.gke.io":
		return o.GetKind() == "FQDNNetworkPolicy"
	}
	return false
}

// collect is the command line that collects what decides a path.
func collect(w workload) string {
	namespace := w.object.GetNamespace()
	if namespace == "" {
		namespace = "NAMESPACE"
	}
	kinds := "deploy,sts,ds,cj,po,svc,netpol,pdb,hpa,sa"
	if w.object.is("argoproj.io", "Rollout") {
		kinds += ",rollouts.argoproj.io"
	}
	return fmt.Sprintf("(kubectl get -n %s %s -o yaml; echo ---; kubectl get ns %s -o yaml) | perch manifest --like - --workload %s"+
		" (and, where the cluster knows them: podmonitors, ciliumnetworkpolicies, securitygrouppolicies, sidecars.networking.istio.io, destinationrules)",
		namespace, kinds, namespace, reference(w.object))
}
