package k8s

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
)

// TestReplicas: a rollout of two never has fewer than two, a drain takes one at a
// time, and nothing keeps both from running on one node if there is but one.
func TestReplicas(t *testing.T) {
	m, spec, main := served(t, small, Options{Replicas: 2})
	if got := strings.Join(main.Args, " "); got != "serve --config=/etc/perch/config --elect" {
		t.Errorf("arguments %s", got)
	}
	roll := spec.Strategy.RollingUpdate
	if *spec.Replicas != 2 || spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || roll.MaxSurge.IntValue() != 1 || roll.MaxUnavailable.IntValue() != 0 {
		t.Errorf("%d replicas, strategy %+v", *spec.Replicas, spec.Strategy)
	}
	keys := map[string]bool{}
	for _, c := range spec.Template.Spec.TopologySpreadConstraints {
		keys[c.TopologyKey] = c.WhenUnsatisfiable == corev1.ScheduleAnyway && c.MaxSkew == 1
		selects(t, c.LabelSelector.MatchLabels, spec.Template.Labels)
	}
	if len(keys) != 2 || !keys[corev1.LabelHostname] || !keys[corev1.LabelTopologyZone] {
		t.Errorf("spread by %v", keys)
	}
	budget := found[*policy.PodDisruptionBudget](t, m).Spec
	if budget.MinAvailable.IntValue() != 1 || *budget.UnhealthyPodEvictionPolicy != policy.AlwaysAllow {
		t.Errorf("disruption budget %+v", budget)
	}
	selects(t, budget.Selector.MatchLabels, spec.Template.Labels)
	// The Lease that elects is the state's: no further right.
	role := found[*rbac.Role](t, m)
	for _, rule := range role.Rules {
		if strings.Join(rule.Verbs, " ") != "get update" || strings.Join(rule.ResourceNames, " ") != "perch-state" {
			t.Errorf("rule %+v", rule)
		}
	}
	if len(role.Rules) != 2 {
		t.Errorf("%d rules", len(role.Rules))
	}
	if notes := strings.Join(m.Notes, "\n"); !strings.Contains(notes, "nobody probes, for nobody knows who leads") {
		t.Errorf("notes: %s", notes)
	}
}

func selects(t *testing.T, selector, labels map[string]string) {
	t.Helper()
	if len(selector) == 0 {
		t.Error("a selector that selects all")
	}
	for key, value := range selector {
		if labels[key] != value {
			t.Errorf("the selector's %s=%s is not the Pod's", key, value)
		}
	}
}

// TestOneReplicaElectsNobody.
func TestOneReplicaElectsNobody(t *testing.T) {
	for _, n := range []int{0, 1} {
		m, spec, main := served(t, small, Options{Replicas: n})
		if *spec.Replicas != 1 || len(main.Args) != 2 || len(spec.Template.Spec.TopologySpreadConstraints) > 0 {
			t.Errorf("%d: %d replicas, arguments %v", n, *spec.Replicas, main.Args)
		}
		for _, o := range m.Objects {
			if _, is := o.(*policy.PodDisruptionBudget); is {
				t.Errorf("%d: a single Pod has a disruption budget, and no node could be drained", n)
			}
		}
	}
}

// TestReplicasRefused: Pods that would all probe, or wait for each other's volume.
func TestReplicasRefused(t *testing.T) {
	as := func(line string) string { return strings.Replace(small, "state: {configmap: perch-state}", line, 1) }
	for says, c := range map[string]struct {
		text string
		o    Options
	}{
		"--replicas 2: only --kind deployment":                                            {small, Options{Replicas: 2}},
		"--replicas 9: one probes and the others stand by; want 1 to":                     {small, Options{Replicas: 9, Kind: KindDeployment}},
		"--replicas -1: one probes":                                                       {small, Options{Replicas: -1, Kind: KindDeployment}},
		"the API would see the budget 3 times; want state: {configmap: perch-state}":      {as(""), Options{Replicas: 3, Kind: KindDeployment}},
		"on a volume that one node mounts at a time, and no lock on it says who may":      {as("state: {file: /var/lib/perch/state}"), Options{Replicas: 2, Kind: KindDeployment}},
		"want state: {configmap: eu-state}, by whose Lease the replicas elect the one th": {as("state: {file: /var/lib/perch/state}"), Options{Replicas: 2, Kind: KindDeployment, Name: "eu"}},
	} {
		cfg, p, files := parsed(t, c.text, "")
		c.o.Files = files
		if _, err := New(cfg, p, c.o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
