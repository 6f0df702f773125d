//go:build peers

package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// environment is the container's, resolved. The server's address is in every
// container's.
func (n *Node) environment(t testing.TB, pod corev1.Pod) map[string]string {
	t.Helper()
	c := pod.Spec.Containers[0]
	if len(c.EnvFrom) > 0 {
		t.Fatalf("envFrom %+v is not understood here", c.EnvFrom)
	}
	env := n.cluster.Environment()
	for _, e := range c.Env {
		if strings.Contains(e.Value, "$(") {
			t.Fatalf("the reference in %s=%s is not understood here", e.Name, e.Value)
		}
		if e.ValueFrom == nil {
			env[e.Name] = e.Value
			continue
		}
		if value, set := n.resolve(t, pod, *e.ValueFrom); set {
			env[e.Name] = value
		}
	}
	return env
}

// resolve returns what a variable comes from; false where it is optional and
// not there.
func (n *Node) resolve(t testing.TB, pod corev1.Pod, from corev1.EnvVarSource) (string, bool) {
	t.Helper()
	var all map[string][]byte
	var key string
	var optional *bool
	switch {
	case from.FieldRef != nil:
		return field(t, pod, from.FieldRef.FieldPath), true
	case from.SecretKeyRef != nil:
		key, optional = from.SecretKeyRef.Key, from.SecretKeyRef.Optional
		all = n.secret(t, pod.Namespace, from.SecretKeyRef.Name, optional)
	case from.ConfigMapKeyRef != nil:
		key, optional = from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
		all = n.configMap(t, pod.Namespace, from.ConfigMapKeyRef.Name, optional)
	default:
		t.Fatalf("the source %+v is not understood here", from)
	}
	value, is := all[key]
	if !is && (optional == nil || !*optional) {
		t.Fatalf("the Pod does not start: no key %s", key)
	}
	return string(value), is
}

// field is what the downward API says.
func field(t testing.TB, pod corev1.Pod, path string) string {
	t.Helper()
	for prefix, of := range map[string]map[string]string{"metadata.labels['": pod.Labels, "metadata.annotations['": pod.Annotations} {
		if key, is := strings.CutPrefix(path, prefix); is {
			return of[strings.TrimSuffix(key, "']")]
		}
	}
	value, known := map[string]string{
		"metadata.namespace": pod.Namespace, "metadata.name": pod.Name, "metadata.uid": string(pod.UID),
		"spec.nodeName": pod.Spec.NodeName, "spec.serviceAccountName": pod.Spec.ServiceAccountName,
		"status.podIP": "127.0.0.1", "status.hostIP": "127.0.0.1",
	}[path]
	if !known {
		t.Fatalf("the field %s is not understood here", path)
	}
	return value
}
