package k8s

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// podMonitor lets Prometheus, run by its operator, scrape the Deployment's Pod. It
// comes last: where the cluster does not know the kind, kubectl applies all the
// others and says so.
func (b *maker) podMonitor() Object {
	if len(b.o.MonitorLabels) == 0 {
		b.note("the PodMonitor is for the Prometheus Operator, many of which take only those with a label of theirs: --monitor-label release=NAME; without an operator in your cluster: --pod-monitor=false")
	}
	labels := map[string]any{}
	for k, v := range b.labels() {
		labels[k] = v
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "monitoring.coreos.com/v1",
		"kind":       "PodMonitor",
		"spec": map[string]any{
			"selector":            map[string]any{"matchLabels": labels},
			"podMetricsEndpoints": []any{map[string]any{"port": metricsPortName, "path": "/metrics"}},
		},
	}}
	object.SetName(b.o.Name)
	if b.o.Namespace != "" {
		object.SetNamespace(b.o.Namespace)
	}
	named := b.labels()
	add(&named, b.o.MonitorLabels)
	object.SetLabels(named)
	return object
}

// checkMonitor refuses labels that nothing would have, and what no label is.
func (b *maker) checkMonitor() {
	if len(b.o.MonitorLabels) == 0 {
		return
	}
	if b.o.Kind != KindDeployment || b.o.NoPodMonitor {
		b.refuse("--monitor-label: only a deployment has a PodMonitor, and not with --pod-monitor=false")
	}
	for _, key := range sortedKeys(b.o.MonitorLabels) {
		value := b.o.MonitorLabels[key]
		switch wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); {
		case len(wrong) > 0:
			b.refuse("--monitor-label %s=%s: %s", key, value, wrong[0])
		case b.labels()[key] != "":
			b.refuse("--monitor-label %s: perch's objects have this label themselves", key)
		}
	}
}
