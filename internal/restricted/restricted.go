// Package restricted asks Pod Security's own evaluator, for tests.
package restricted

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// Forbidden returns what the level restricted, in its newest version, forbids of a
// Pod, a reason each; none: it is allowed.
func Forbidden(pod corev1.PodTemplateSpec) ([]string, error) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, err
	}
	var bad []string
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, r := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
		if !r.Allowed {
			bad = append(bad, r.ForbiddenReason+": "+r.ForbiddenDetail)
		}
	}
	return bad, nil
}
