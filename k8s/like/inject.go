package like

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

func podLabels(o object) labels.Set { return o.GetLabels() }

// istioInjects says by what Istio's webhook injects a sidecar into the workload's
// Pods; empty: it does not. The Pod's own word comes first, a Namespace that says
// disabled before everything.
func istioInjects(p pod, annotations map[string]string) string {
	const inject, space, revision = "sidecar.istio.io/inject", "istio-injection", "istio.io/rev"
	own := p.labels[inject]
	if own == "" {
		own = annotations[inject]
	}
	switch {
	case p.spaceLabels[space] == "disabled", own == "false":
		return ""
	case p.spaceLabels[space] == "enabled":
		return "the Namespace has " + space + "=enabled"
	case own == "true":
		return "its Pods have " + inject + "=true"
	case p.labels[revision] != "":
		return "its Pods have " + revision + "=" + p.labels[revision]
	case p.spaceLabels[revision] != "":
		return "the Namespace has " + revision + "=" + p.spaceLabels[revision]
	}
	return ""
}

// linkerdInjects says the same of Linkerd, which goes by annotations.
func linkerdInjects(own, space map[string]string) string {
	const inject = "linkerd.io/inject"
	value, where := own[inject], "its Pods have "
	if value == "" {
		value, where = space[inject], "the Namespace has "
	}
	if value != "enabled" && value != "ingress" {
		return ""
	}
	return where + inject + ": " + value
}

// linkerdNative reports whether annotations ask for a native sidecar.
func linkerdNative(annotations map[string]string) bool {
	for key, value := range annotations {
		if strings.HasPrefix(key, "config.") && strings.HasSuffix(key, "linkerd.io/proxy-enable-native-sidecar") && value == "true" {
			return true
		}
	}
	return false
}

// kumaInjects says the same of Kuma: the Pod's own label first, then its
// Namespace's. Both may be annotations of old.
func kumaInjects(p pod, own, space map[string]string) string {
	const inject = "kuma.io/sidecar-injection"
	for _, of := range []struct{ value, where string }{
		{p.labels[inject], "its Pods have "}, {own[inject], "its Pods have "},
		{p.spaceLabels[inject], "the Namespace has "}, {space[inject], "the Namespace has "},
	} {
		switch of.value {
		case "":
		case "enabled", "true":
			return of.where + inject + "=" + of.value
		default:
			return ""
		}
	}
	return ""
}
