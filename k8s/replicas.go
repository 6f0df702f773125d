package k8s

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// electFlag makes a perch serve one of several.
const electFlag = "--elect"

// mostReplicas: each that stands by asks the API server once a second who leads, and a
// second one is all that a node's end takes.
const mostReplicas = 5

// checkReplicas refuses several Pods that would all probe, or wait for each other.
func (b *maker) checkReplicas() {
	n, state := b.o.Replicas, b.cfg.State
	switch {
	case n < 0 || n > mostReplicas:
		b.refuse("--replicas %d: one probes and the others stand by; want 1 to %d", n, mostReplicas)
	case n < 2:
	case b.o.Kind != KindDeployment:
		b.refuse("--replicas %d: only --kind deployment runs all the time, this is %s; a CronJob's next run needs no replica", n, b.o.Kind)
	case state.File != "":
		b.refuse("--replicas %d: the state is in a file, on a volume that one node mounts at a time, and no lock on it says who may probe when that node is gone; want state: {configmap: %s}, by whose Lease the replicas elect the one that probes", n, b.stateName())
	case state.ConfigMap == "":
		b.refuse("--replicas %d: the config has no state, so that each replica would probe, and the API would see the budget %d times; want state: {configmap: %s}, by whose Lease the replicas elect the one that probes", n, n, b.stateName())
	}
}

// strategy: of several the new one stands by, and is ready, before an old one ends.
func (b *maker) strategy() appsv1.DeploymentStrategy {
	if b.o.Replicas < 2 {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &one, MaxUnavailable: &none},
	}
}

// apart spreads replicas over zones and nodes where there are several. Where there
// are not, they run all the same: a Pod that nobody can place is no standby.
func (b *maker) apart() []corev1.TopologySpreadConstraint {
	if b.o.Replicas < 2 {
		return nil
	}
	var all []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		all = append(all, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: b.selector(),
		})
	}
	return all
}

// disruptionBudget lets a drain take one replica at a time. One that is not ready
// may always be taken: a perch that is broken must hold up nobody's node.
func (b *maker) disruptionBudget() Object {
	one := intstr.FromInt32(1)
	return &policy.PodDisruptionBudget{
		TypeMeta:   meta.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: b.meta(b.o.Name),
		Spec: policy.PodDisruptionBudgetSpec{
			MinAvailable: &one, Selector: b.selector(), UnhealthyPodEvictionPolicy: new(policy.AlwaysAllow),
		},
	}
}

// sayReplicas tells what is given up for it.
func (b *maker) sayReplicas() {
	if b.o.Replicas > 1 {
		b.note("--replicas %d: while the API server cannot be reached for more than 10s nobody probes, for nobody knows who leads; a single perch serve goes on (docs/deploy.md, \"Two replicas\")", b.o.Replicas)
	}
}
