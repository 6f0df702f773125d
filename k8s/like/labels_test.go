package like

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"perch.example/k8s"
)

const (
	monitor = `{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: mon, namespace: shop}, spec: {selector: %s}}`
	netpol  = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: net, namespace: shop}, spec: {podSelector: %s, policyTypes: [Egress]}}`
)

func of(form, selector string) string { return strings.Replace(form, "%s", selector, 1) }

// TestWhichLabelsPerchCarries beside its own.
func TestWhichLabelsPerchCarries(t *testing.T) {
	for name, c := range map[string]struct {
		labels  string
		objects []string
		want    []string
		clones  int
		left    string
	}{
		"none without a reason":         {", team: a", nil, nil, 0, ""},
		"the mesh's":                    {`, sidecar.istio.io/inject: "true", istio.io/rev: x`, nil, []string{"istio.io/rev", "sidecar.istio.io/inject"}, 0, ""},
		"the mesh's, and a monitor's":   {`, sidecar.istio.io/inject: "true"`, []string{of(monitor, `{matchLabels: {sidecar.istio.io/inject: "true"}}`)}, nil, 0, "label sidecar.istio.io/inject"},
		"a policy's":                    {", egress: a", []string{of(netpol, "{matchLabels: {egress: a}}")}, []string{"egress"}, 0, ""},
		"a policy's two":                {", egress: a, zone: b", []string{of(netpol, "{matchLabels: {egress: a}, matchExpressions: [{key: zone, operator: Exists}, {key: legacy, operator: DoesNotExist}]}")}, []string{"egress", "zone"}, 0, ""},
		"a policy's, and a monitor's":   {", egress: a", []string{of(netpol, "{matchLabels: {egress: a}}"), of(monitor, "{matchLabels: {egress: other}}")}, nil, 1, ""},
		"one of two is a Service's":     {", egress: a", []string{of(netpol, "{matchLabels: {egress: a, app: checkout}}")}, nil, 1, ""},
		"a policy by a Job's own label": {", job-name: a", []string{of(netpol, "{matchLabels: {job-name: a}}")}, nil, 1, ""},
		"a policy by perch's own key":   {", app.kubernetes.io/instance: a", []string{of(netpol, "{matchLabels: {app.kubernetes.io/instance: a}}")}, nil, 1, ""},
		"a policy of another namespace": {", egress: a", []string{strings.Replace(of(netpol, "{matchLabels: {egress: a}}"), "shop", "cart", 1)}, nil, 0, ""},
		"what a monitor excludes":       {"", []string{of(monitor, "{matchExpressions: [{key: unmonitored, operator: DoesNotExist}]}")}, []string{"unmonitored"}, 0, ""},
	} {
		p := made(t, app(c.labels, "", c.objects...))
		delete(p.Labels, pathLabel)
		if got := slices.Sorted(maps.Keys(p.Labels)); !slices.Equal(got, c.want) || len(p.Policies) != c.clones {
			t.Errorf("%s: labels %v, %d clones, want %v, %d", name, got, len(p.Policies), c.want, c.clones)
		}
		if c.left != "" && !says(p.Left, c.left, "would select perch") {
			t.Errorf("%s: %v does not tell of %s", name, p.Left, c.left)
		}
	}
}

// TestAMonitorIsNotEscapedByAPolicysLabel: a label that would keep it off, and that
// a policy asks for, would change the path.
func TestAMonitorIsNotEscapedByAPolicysLabel(t *testing.T) {
	_, err := New([]byte(app("", "", of(monitor, "{matchExpressions: [{key: open, operator: DoesNotExist}]}"), of(netpol, "{matchExpressions: [{key: open, operator: Exists}]}"))), Options{Name: "perch"})
	if err == nil || !strings.Contains(err.Error(), "PodMonitor shop/mon would select perch") {
		t.Errorf("%v", err)
	}
}

// TestWhatKeepsAMonitorOff turns nothing on: no injector, and no tool that perch
// does not know.
func TestWhatKeepsAMonitorOff(t *testing.T) {
	for key, given := range map[string]bool{
		"unmonitored": true, "istio-prometheus-ignore": true, "prometheus.io/ignore": true, "monitoring.example/excluded": true,
		"admission.datadoghq.com/enabled": false, "admission.datadoghq.com/skip": false, "sidecar.istio.io/inject": false,
		"azure.workload.identity/use": false, "aadpodidbinding": false, "example.com/job": false, "inject-proxy": false,
	} {
		p, err := New([]byte(app("", "", of(monitor, "{matchExpressions: [{key: "+key+", operator: DoesNotExist}]}"))), Options{Name: "perch"})
		if (err == nil) != given || (given && p.Labels[key] != "true") || (!given && !strings.Contains(err.Error(), "PodMonitor shop/mon would select perch")) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestKindsThatPerchDoesNotKnow guard by spec.selector, where it asks for labels
// that perch has. Of policies that select by absence or in words of their own, the
// line about their kind tells.
func TestKindsThatPerchDoesNotKnow(t *testing.T) {
	for selector, refused := range map[string]bool{
		"{matchLabels: {perch.example/path: perch}}": true,
		"{app.kubernetes.io/name: perch}":            true,
		"{matchLabels: {app: checkout}}":             false,
		"{app: checkout}":                            false,
		"{}":                                         false,
		"{matchExpressions: [{key: team, operator: DoesNotExist}]}": false,
		`app == "checkout"`: false,
		"[1]":               false,
	} {
		_, err := New([]byte(app("", "", "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: cs, namespace: shop}, spec: {selector: "+selector+"}}")), Options{Name: "perch"})
		if (err != nil) != refused || (refused && !strings.Contains(err.Error(), "CloneSet shop/cs would select perch")) {
			t.Errorf("%s: %v", selector, err)
		}
	}
}

// TestAnAntiAffinityOfAnotherNamespace reaches perch by a namespaceSelector, or by
// the namespace's name.
func TestAnAntiAffinityOfAnotherNamespace(t *testing.T) {
	for term, refused := range map[string]bool{
		"labelSelector: {matchLabels: {app.kubernetes.io/name: perch}}, namespaceSelector: {}":     true,
		"labelSelector: {}, namespaces: [shop]":                                                    true,
		"labelSelector: {}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}": true,
		"labelSelector: {}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: cart}}": false,
		"labelSelector: {}": false,
		"labelSelector: {matchLabels: {app: checkout}}, namespaceSelector: {}": false,
	} {
		_, err := New([]byte(app("", "", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: cart}, spec: {selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db}], "+
			"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "+term+"}]}}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}}}}")),
			Options{Name: "perch", Workload: "deploy/checkout"})
		if (err != nil) != refused || (refused && !strings.Contains(err.Error(), "its anti-affinity would keep its own Pods off perch's node")) {
			t.Errorf("%s: %v", term, err)
		}
	}
}

// TestAQuotaThatPerchDoesNotMeet is told of.
func TestAQuotaThatPerchDoesNotMeet(t *testing.T) {
	for hard, said := range map[string]bool{"limits.cpu: '10', requests.cpu: '5'": true, "requests.cpu: '5', limits.memory: 1Gi": false} {
		p := made(t, app("", "", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: {"+hard+"}}}"))
		if says(p.Left, "ResourceQuota shop/q", "limits.cpu") != said {
			t.Errorf("%s: left %v", hard, p.Left)
		}
	}
}

// TestClonesHoldOnlyWhatLeaves: no rule about receiving is cloned, and names stay
// within what Kubernetes takes.
func TestClonesHoldOnlyWhatLeaves(t *testing.T) {
	long := strings.Repeat("n", 237) + ".nnnnnnnnnn" // cut at the dot
	p := made(t, app("", "",
		`{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: `+long+`, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: checkout}},
		  ingress: [{}], ingressDeny: [{}], egress: [{}], egressDeny: [{toCIDR: [192.0.2.0/24]}]}}`,
		`{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: in, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: checkout}}, ingress: [{}]}}`,
		`{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: reserved, namespace: shop}, spec: {endpointSelector: {matchLabels: {"reserved:host": ""}}, egress: [{}]}}`))
	if len(p.Policies) != 1 || !says(p.Left, "shop/in", "only what the workload receives") {
		t.Fatalf("%d clones, left %v", len(p.Policies), p.Left)
	}
	c := p.Policies[0]
	spec := within(c.Object, "spec")
	if got := slices.Sorted(maps.Keys(spec)); !slices.Equal(got, []string{"egress", "egressDeny", "endpointSelector"}) || len(c.GetName()) > 253 || strings.Contains(c.GetName(), ".-") || !strings.HasPrefix(c.GetName(), "perch-nnn") {
		t.Errorf("the clone %s has %v", c.GetName(), got)
	}
}

// TestOtherPerches: this one's own objects are as if they were not there; another
// one's are no application's, and must not select this one either.
func TestOtherPerches(t *testing.T) {
	perch := func(kind, version, name, spec string) string {
		return "{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name + ", namespace: shop, labels: {app.kubernetes.io/name: perch, app.kubernetes.io/instance: " + name + "}}, spec: " + spec + "}"
	}
	run := "{selector: {matchLabels: {app.kubernetes.io/name: perch, app.kubernetes.io/instance: %}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: perch}]}}}"
	p := made(t, app("", "", perch("Deployment", "apps/v1", "perch", strings.Replace(run, "%", "perch", 1)), perch("Deployment", "apps/v1", "perch-2", strings.Replace(run, "%", "perch-2", 1))))
	if p.Workload != "Deployment shop/checkout" || !says(p.Left, "objects of perch", "Deployment shop/perch") {
		t.Errorf("%s, left %v", p.Workload, p.Left)
	}
	_, err := New([]byte(app("", "", perch("Service", "v1", "perch-2", "{selector: {app.kubernetes.io/name: perch}}"))), Options{Name: "perch"})
	if err == nil || !strings.Contains(err.Error(), "Service shop/perch-2 would select perch") {
		t.Errorf("another perch's Service: %v", err)
	}
}

// TestWherePerchSits: affinity to the workload's own Pods is a wish, anti-affinity
// to them is none, and what is required against others is a wish.
func TestWherePerchSits(t *testing.T) {
	near := func(selector string) string {
		return "{labelSelector: " + selector + ", topologyKey: kubernetes.io/hostname}"
	}
	both := func(kind, term string) string {
		return ", affinity: {" + kind + ": {requiredDuringSchedulingIgnoredDuringExecution: [" + term + "]}}"
	}
	const own, other = "{matchLabels: {app: checkout}}", "{matchLabels: {app: redis}}"
	type counts struct{ required, wished, away int }
	count := func(p *k8s.Path) (n counts) {
		if a := p.Pod.Affinity; a != nil && a.PodAffinity != nil {
			n.required = len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
			n.wished = len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a := p.Pod.Affinity; a != nil && a.PodAntiAffinity != nil {
			n.away = len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
			if len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
				t.Error("a required anti-affinity of perch's keeps others off its node")
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		spec string
		want counts
	}{
		"none":              {"", counts{}},
		"near its own":      {both("podAffinity", near(own)), counts{wished: 1}},
		"near another":      {both("podAffinity", near(other)), counts{required: 1}},
		"away from its own": {both("podAntiAffinity", near(own)), counts{}},
		"away from another": {both("podAntiAffinity", near(other)), counts{away: 1}},
		"away from all others, preferred": {", affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, podAffinityTerm: " +
			near("{matchExpressions: [{key: app, operator: NotIn, values: [checkout]}]}") + "}]}}", counts{}},
		"away, elsewhere":        {both("podAntiAffinity", "{labelSelector: "+own+", namespaces: [cart], topologyKey: z}"), counts{away: 1}},
		"away, by the namespace": {both("podAntiAffinity", "{labelSelector: "+own+", namespaceSelector: {}, topologyKey: z}"), counts{}},
	} {
		if got := count(made(t, app("", c.spec))); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestWhatAPodShowsOfFargate: its profile selects by labels, and stands in no
// object.
func TestWhatAPodShowsOfFargate(t *testing.T) {
	pod := `{apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: shop, labels: {app: checkout, eks.amazonaws.com/fargate-profile: apps}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: checkout-1, uid: u, controller: true}]}, spec: {containers: [{name: app}]}}`
	if p := made(t, app("", "", pod)); !says(p.Left, "Fargate", "the profile apps") {
		t.Errorf("left %v", p.Left)
	}
}

// TestTheMeshsOwnNamespace: what stands there holds for every workload that it
// selects, and its clone stands with perch.
func TestTheMeshsOwnNamespace(t *testing.T) {
	filter := `{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: idle, namespace: %s}, spec: {workloadSelector: {labels: {app: checkout}}, configPatches: []}}`
	for namespace, clones := range map[string]int{istioRoot: 1, "shop": 1, "cart": 0} {
		p := made(t, app("", "", of(filter, namespace)))
		if len(p.Policies) != clones || (clones > 0 && (p.Policies[0].GetNamespace() != "shop" || p.Isolated)) {
			t.Errorf("%s: %v, want %d clones", namespace, p.Policies, clones)
		}
	}
}

// TestWhatIsolates: what only receives does not, and Calico's policies, which
// perch does not read, stand for none of Kubernetes' own.
func TestWhatIsolates(t *testing.T) {
	for form, isolated := range map[string]bool{
		netpol: true, strings.Replace(netpol, "Egress", "Ingress", 1): false,
		strings.Replace(netpol, "networking.k8s.io/v1", "projectcalico.org/v3", 1): false,
	} {
		p := made(t, app("", "", of(form, "{}")))
		calico := strings.Contains(form, "calico")
		if p.Isolated != isolated || says(p.Left, "not in the input", "NetworkPolicy") != calico ||
			says(p.Left, "NetworkPolicy shop/net", "perch does not read") != calico {
			t.Errorf("isolated %v, want %v; left %v\n%s", p.Isolated, isolated, p.Left, form)
		}
	}
}
