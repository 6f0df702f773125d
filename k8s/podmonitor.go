package k8s

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podMonitor lets Prometheus, run by its operator, scrape the Deployment's Pod. It
// comes last: where the cluster does not know the kind, kubectl applies all the
// others and says so.
func (b *maker) podMonitor() Object {
	b.note("the PodMonitor is for the Prometheus Operator; without it in your cluster: --pod-monitor=false")
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
	object.SetLabels(b.labels())
	return object
}
