package like

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"perch.example/k8s"
)

// annotated is a workload whose Pods have these annotations.
func annotated(notes, podLabels string, more ...string) string {
	return strings.Replace(app(podLabels, "", more...), "template: {metadata: {", "template: {metadata: {annotations: {"+notes+"}, ", 1)
}

// TestWhichAnnotationsAreCopied: what decides the path, unless it gives volumes,
// rights, an address or a credential. Of all others perch tells, without their
// values.
func TestWhichAnnotationsAreCopied(t *testing.T) {
	for note, c := range map[string]struct {
		copied bool
		left   string // why; empty: nothing is said
	}{
		`ipam.cilium.io/ip-pool: egress`:                                                  {true, ""},
		`k8s.aliyun.com/pod-eni: 'true'`:                                                  {true, ""},
		`cni.projectcalico.org/ipv4pools: '["a"]'`:                                        {true, ""},
		`sidecar.istio.io/proxyCPU: 100m`:                                                 {true, ""},
		`proxy.istio.io/config: 'holdApplicationUntilProxyStarts: true'`:                  {true, ""},
		`proxy.istio.io/config: 'proxyMetadata: {LIGHTSTEP_TOKEN: hunter2}'`:              {false, "looks like a credential"},
		`proxy.istio.io/config: '{"proxyMetadata": {"DB_PWD": "hunter2"}}'`:               {false, "looks like a credential"},
		`sidecar.istio.io/userVolume: '[{"name":"v","secret":{"secretName":"hunter2"}}]'`: {false, "volumes"},
		`sidecar.istio.io/userVolumeMount: '[{"name":"v","mountPath":"/hunter2"}]'`:       {false, "volumes"},
		`sidecar.istio.io/enableCoreDump: 'true'`:                                         {false, "more rights"},
		`kuma.io/service-account-token-volume: hunter2`:                                   {false, "volumes"},
		`cni.projectcalico.org/ipAddrs: '["10.1.1.1"]'`:                                   {false, "two Pods cannot have"},
		`iam.amazonaws.com/role: hunter2`:                                                 {false, "role in AWS"},
		`consul.hashicorp.com/connect-inject: 'true'`:                                     {false, "a Job of it may never end"},
		`vault.hashicorp.com/agent-inject: 'hunter2'`:                                     {false, "where one of them decides"},
		`k8s.v1.cni.cncf.io/networks: partner-vlan@net1`:                                  {true, ""},
		`k8s.v1.cni.cncf.io/networks: '[{"name": "partner-vlan"}]'`:                       {true, ""},
		`k8s.v1.cni.cncf.io/networks: '[{"name": "v", "ips": ["192.0.2.7/24"]}]'`:         {false, "two Pods cannot have"},
		`k8s.v1.cni.cncf.io/networks: '[{"name": "v", "mac": "02:00:00:00:00:01"}]'`:      {false, "two Pods cannot have"},
		`kubectl.kubernetes.io/restartedAt: now`:                                          {false, ""},
		`prometheus.io/scrape: 'true'`:                                                    {false, ""},
		`checksum/config: abc`:                                                            {false, ""},
		`cni.projectcalico.org/podIP: 10.0.0.1/32`:                                        {false, ""},
	} {
		p := made(t, annotated(note, ""))
		key, _, _ := strings.Cut(note, ":")
		_, copied := p.Annotations[key]
		said := slices.ContainsFunc(p.Left, func(r k8s.Reason) bool { return strings.Contains(r.What+r.Why, key) })
		if copied != c.copied || said != (c.left != "") || !says(p.Left, "", c.left) || strings.Contains(string(shown(t, p)), "hunter2") {
			t.Errorf("%s: copied %v, left %v", note, copied, p.Left)
		}
	}
}

// TestLabelsThatPerchDoesNotKnow: those with somebody's domain are named, in one
// line with the annotations.
func TestLabelsThatPerchDoesNotKnow(t *testing.T) {
	p := made(t, annotated("other.example/a: b", ", aadpodidbinding: x, networking.istio.io/tunnel: http, topology.istio.io/network: net2, app.kubernetes.io/part-of: shop, team: z"))
	if !says(p.Left, "does not know", "other.example/a, aadpodidbinding, networking.istio.io/tunnel: not copied") {
		t.Errorf("left %v", p.Left)
	}
	if got := slices.Sorted(maps.Keys(p.Labels)); !slices.Equal(got, []string{pathLabel, "topology.istio.io/network"}) {
		t.Errorf("labels %v", got)
	}
}
