//go:build peers

package cluster

import (
	"fmt"
	"strings"
)

// kind is one that a cluster learns from an operator.
type kind struct{ group, version, name, plural, scope string }

// kinds are those that stand in what perch reads or writes.
func kinds() []kind {
	return []kind{
		{"monitoring.coreos.com", "v1", "PodMonitor", "podmonitors", "Namespaced"},
		{"monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors", "Namespaced"},
		{"monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules", "Namespaced"},
		{"cilium.io", "v2", "CiliumNetworkPolicy", "ciliumnetworkpolicies", "Namespaced"},
		{"cilium.io", "v2", "CiliumClusterwideNetworkPolicy", "ciliumclusterwidenetworkpolicies", "Cluster"},
		{"cilium.io", "v2", "CiliumEgressGatewayPolicy", "ciliumegressgatewaypolicies", "Cluster"},
		{"vpcresources.k8s.aws", "v1beta1", "SecurityGroupPolicy", "securitygrouppolicies", "Namespaced"},
		{"networking.istio.io", "v1", "Sidecar", "sidecars", "Namespaced"},
		{"networking.istio.io", "v1", "DestinationRule", "destinationrules", "Namespaced"},
		{"networking.istio.io", "v1", "ServiceEntry", "serviceentries", "Namespaced"},
		{"networking.istio.io", "v1", "VirtualService", "virtualservices", "Namespaced"},
		{"security.istio.io", "v1", "PeerAuthentication", "peerauthentications", "Namespaced"},
		{"argoproj.io", "v1alpha1", "Rollout", "rollouts", "Namespaced"},
	}
}

// InstallKinds makes the server know the kinds of the operators that perch
// meets. Their objects are stored as they are: it is not the operators' own
// schemas that judge them.
func (c *Cluster) InstallKinds() {
	c.t.Helper()
	var all, names []string
	for _, k := range kinds() {
		all = append(all, fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: %[3]s
  names: {kind: %[4]s, plural: %[1]s, singular: %[5]s}
  versions:
    - name: %[6]s
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, k.plural, k.group, k.scope, k.name, strings.ToLower(k.name), k.version))
		names = append(names, "crd/"+k.plural+"."+k.group)
	}
	c.Apply(strings.Join(all, "---\n"))
	c.Kubectl(append([]string{"wait", "--for=condition=Established", "--timeout=60s"}, names...)...)
}
