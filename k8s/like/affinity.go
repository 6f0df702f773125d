package like

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// preferred is the weight of a term that was required of the workload and is a
// wish for perch.
const preferred = 100

// affinity copies where the workload may sit:
//
//   - near nodes: as it is;
//   - near Pods: as it is, but near the workload's own as a wish, so that perch
//     also runs when the workload is scaled to zero;
//   - away from Pods: as a wish, since a required term works both ways and would
//     keep those Pods off perch's node; away from the workload's own not at all,
//     for perch belongs where they are.
func (b *builder) affinity() error {
	from := b.w.template.Spec.Affinity
	if from == nil {
		return nil
	}
	to := &corev1.Affinity{NodeAffinity: from.NodeAffinity.DeepCopy()}
	if to.NodeAffinity != nil {
		b.copied("affinity to nodes", "perch may run only where the workload may")
	}
	var err error
	if from.PodAffinity != nil {
		if to.PodAffinity, err = b.near(*from.PodAffinity); err != nil {
			return err
		}
	}
	if from.PodAntiAffinity != nil {
		if to.PodAntiAffinity, err = b.away(*from.PodAntiAffinity); err != nil {
			return err
		}
	}
	if to.NodeAffinity != nil || to.PodAffinity != nil || to.PodAntiAffinity != nil {
		b.path.Pod.Affinity = to
	}
	return nil
}

func (b *builder) near(from corev1.PodAffinity) (*corev1.PodAffinity, error) {
	to := &corev1.PodAffinity{}
	for _, term := range from.RequiredDuringSchedulingIgnoredDuringExecution {
		own, err := b.selects(term, b.app.labels)
		if err != nil {
			return nil, err
		}
		if own {
			to.PreferredDuringSchedulingIgnoredDuringExecution = append(to.PreferredDuringSchedulingIgnoredDuringExecution, wish(term))
			continue
		}
		to.RequiredDuringSchedulingIgnoredDuringExecution = append(to.RequiredDuringSchedulingIgnoredDuringExecution, bare(term))
	}
	for _, w := range from.PreferredDuringSchedulingIgnoredDuringExecution {
		to.PreferredDuringSchedulingIgnoredDuringExecution = append(to.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.WeightedPodAffinityTerm{Weight: w.Weight, PodAffinityTerm: bare(w.PodAffinityTerm)})
	}
	b.copied("affinity to Pods", "perch sits near what the workload sits near; near the workload's own Pods it is a wish, so that perch also runs without them")
	return to, nil
}

func (b *builder) away(from corev1.PodAntiAffinity) (*corev1.PodAntiAffinity, error) {
	all := slices.Clone(from.PreferredDuringSchedulingIgnoredDuringExecution)
	for _, term := range from.RequiredDuringSchedulingIgnoredDuringExecution {
		all = append(all, wish(term))
	}
	to := &corev1.PodAntiAffinity{}
	for _, w := range all {
		own, err := b.selects(w.PodAffinityTerm, b.app.labels)
		if err != nil {
			return nil, err
		}
		perch, err := b.selects(w.PodAffinityTerm, b.perch.labels)
		if err != nil {
			return nil, err
		}
		if own || perch {
			continue
		}
		to.PreferredDuringSchedulingIgnoredDuringExecution = append(to.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.WeightedPodAffinityTerm{Weight: w.Weight, PodAffinityTerm: bare(w.PodAffinityTerm)})
	}
	if n := len(to.PreferredDuringSchedulingIgnoredDuringExecution); n < len(all) {
		b.left("anti-affinity to the workload's own Pods", "it spreads them among each other; perch belongs where they are")
	}
	if len(to.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil, nil
	}
	b.copied("anti-affinity to other Pods", "as a wish: a required one of perch's would keep those Pods off its node")
	return to, nil
}

// wish makes a required term a preferred one.
func wish(term corev1.PodAffinityTerm) corev1.WeightedPodAffinityTerm {
	return corev1.WeightedPodAffinityTerm{Weight: preferred, PodAffinityTerm: bare(term)}
}

// bare takes from a term what asks for the values of labels that perch has not:
// the hash of a rollout.
func bare(term corev1.PodAffinityTerm) corev1.PodAffinityTerm {
	term = *term.DeepCopy()
	term.MatchLabelKeys, term.MismatchLabelKeys = nil, nil
	return term
}

// termSelector is what a term selects in the workload's namespace; nil: nothing
// there.
func (b *builder) termSelector(o object, term corev1.PodAffinityTerm) (labels.Selector, error) {
	if term.LabelSelector == nil {
		return nil, nil
	}
	here := len(term.Namespaces) == 0 && term.NamespaceSelector == nil && o.in(b.app.namespace)
	if term.NamespaceSelector != nil {
		s, err := o.asSelector(term.NamespaceSelector, "namespaceSelector")
		if err != nil {
			return nil, err
		}
		here = s.Matches(b.app.spaceLabels)
	}
	if !here && !slices.Contains(term.Namespaces, b.app.namespace) {
		return nil, nil
	}
	return o.asSelector(term.LabelSelector, "labelSelector")
}

// selects reports whether a term of the workload means a Pod with these labels.
func (b *builder) selects(term corev1.PodAffinityTerm, set labels.Set) (bool, error) {
	s, err := b.termSelector(b.w.object, term)
	return s != nil && s.Matches(set), err
}
