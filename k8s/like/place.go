package like

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// place copies what decides on which nodes a Pod may run, and with which network
// stack.
func (b *builder) place() error {
	spec, to := b.w.template.Spec, &b.path.Pod
	if len(spec.NodeSelector) > 0 {
		to.NodeSelector = maps.Clone(spec.NodeSelector)
		b.copied("nodeSelector", "perch may run only where the workload may")
	}
	if arch := spec.NodeSelector[corev1.LabelArchStable]; arch != "" {
		b.left("perch's image", "the nodes are %s: the image must be built for that too", arch)
	}
	to.Tolerations = slices.DeleteFunc(slices.Clone(spec.Tolerations), byAdmission)
	if len(to.Tolerations) > 0 {
		b.copied("tolerations", "the workload's nodes may be tainted")
	}
	if err := b.affinity(); err != nil {
		return err
	}
	if spec.RuntimeClassName != nil {
		to.RuntimeClassName = spec.RuntimeClassName
		b.copied("runtimeClassName "+*spec.RuntimeClassName, "a sandbox brings a network stack of its own")
	}
	b.unplaced(spec)
	return nil
}

// byAdmission reports whether a toleration is one that every Pod gets, and so
// perch's too.
func byAdmission(t corev1.Toleration) bool {
	return (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable) &&
		t.Effect == corev1.TaintEffectNoExecute && t.TolerationSeconds != nil && *t.TolerationSeconds == 300
}

// unplaced says what concerns placing and does not fit perch.
func (b *builder) unplaced(spec corev1.PodSpec) {
	if len(spec.TopologySpreadConstraints) > 0 {
		b.left("topologySpreadConstraints", "they spread the workload's Pods among each other; perch is one Pod, and could wait for ever for a place that fits them")
	}
	if spec.SchedulerName != "" && spec.SchedulerName != corev1.DefaultSchedulerName {
		b.left("schedulerName "+spec.SchedulerName, "the default scheduler keeps to the same nodes, and that one may not take Jobs")
	}
	if spec.PriorityClassName != "" {
		b.left("priorityClassName "+spec.PriorityClassName, "perch must not push other Pods off their nodes")
	}
	if b.w.object.is("apps", "DaemonSet") {
		b.left("one Pod a node", "perch runs on one of the nodes where the DaemonSet may: a fault of another node's path is not seen")
	}
	if profile := b.onFargate(); profile != "" {
		b.left("Fargate", "the workload's Pods run on Fargate by the profile %s, whose selector is in AWS: let it select perch's labels, too, or perch runs on other nodes, with other security groups", profile)
	}
	if spec.NodeName != "" {
		b.left("nodeName", "the Pod ran on %s, which may be gone tomorrow; use a nodeSelector where the path differs by node", spec.NodeName)
	}
}

// onFargate returns the profile by which EKS runs the workload's Pods, where one of
// them is in the input; empty: none is seen.
func (b *builder) onFargate() string {
	const label = "eks.amazonaws.com/fargate-profile"
	for _, o := range b.in {
		if o.is("", "Pod") && o.in(b.app.namespace) && (b.ownPod(o) || o.String() == b.w.object.String()) && o.GetLabels()[label] != "" {
			return o.GetLabels()[label]
		}
	}
	return ""
}
