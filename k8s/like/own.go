package like

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"perch.example/k8s"
)

// ownLabels are those of every object of a perch.
func ownLabels(name string) labels.Set {
	return labels.Set{"app.kubernetes.io/name": "perch", "app.kubernetes.io/instance": name}
}

// baseLabels are those of perch's Pod before any is copied.
func baseLabels(name string) labels.Set {
	set := ownLabels(name)
	set[pathLabel] = name
	return set
}

// ofPerch reports whether an object belongs to a perch. It is no application's.
func ofPerch(o object) bool { return o.GetLabels()["app.kubernetes.io/name"] == "perch" }

// apart takes this perch's own objects out of the input, which an earlier --like
// made. Another perch's stay: they must not select this one either.
func apart(all []object, name string) (in, own []object) {
	for _, o := range all {
		if ofPerch(o) && ofThis(o, name) {
			own = append(own, o)
			continue
		}
		in = append(in, o)
	}
	return in, own
}

// ofThis reports whether an object of a perch is this one's: by its label, or,
// where a tool that tracks objects by that label wrote its own word there, by its
// name and what it selects.
func ofThis(o object, name string) bool {
	instance := o.GetLabels()["app.kubernetes.io/instance"]
	if instance == name || instance == "" {
		return true
	}
	if !regexp.MustCompile("^" + regexp.QuoteMeta(name) + "(-.*)?$").MatchString(o.GetName()) {
		return false
	}
	if means(o.Object["spec"], name) {
		return true
	}
	plain := slices.Contains([]string{"ConfigMap", "Lease", "Role", "RoleBinding", "ServiceAccount", "CronJob", "PersistentVolumeClaim"}, o.GetKind())
	return plain && regexp.MustCompile("^"+regexp.QuoteMeta(name)+"(-state(-[0-9]+)?)?$").MatchString(o.GetName())
}

// means reports whether a perch's own labels stand in a part of an object.
func means(value any, name string) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(inner any) bool { return means(inner, name) })
	case map[string]any:
		if value[pathLabel] == name || (value["app.kubernetes.io/name"] == "perch" && value["app.kubernetes.io/instance"] == name) {
			return true
		}
		for _, inner := range value {
			if means(inner, name) {
				return true
			}
		}
	}
	return false
}

// taken names what the input holds. A state that a perch wrote is left out: whose
// it is stands in no label that a tool could not have written over.
// Beside a workload that names no namespace, none counts.
// A Secret of the input may be the one that was made for perch; what the workload
// refers to is its own, be it there or not.
func taken(in []object, w workload) []k8s.Ref {
	namespace := w.object.GetNamespace()
	var all []k8s.Ref
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.template.Spec)
	if err == nil { // it was decoded from that
		for r := range referred(raw) {
			r.Namespace = namespace
			all = append(all, r)
		}
	}
	for _, o := range in {
		if o.is("", "Secret") {
			continue
		}
		if ofPerch(o) && (o.is("", "ConfigMap") || o.is("coordination.k8s.io", "Lease")) {
			continue
		}
		r := k8s.RefOf(o.Unstructured)
		if namespace == "" {
			r.Namespace = ""
		}
		all = append(all, r)
	}
	return all
}

// referred are the Secrets, the ConfigMaps and the account that a Pod refers to,
// wherever in it, without their namespace.
func referred(value any) map[k8s.Ref]bool {
	all := map[k8s.Ref]bool{}
	walk(value, func(key string, inner any) {
		fields, _ := inner.(map[string]any)
		text, _ := inner.(string)
		name, _ := fields["name"].(string)
		kind := map[string]string{
			"secret": "Secret", "secretRef": "Secret", "secretKeyRef": "Secret", "configMap": "ConfigMap", "configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap",
		}[key]
		switch {
		case key == "secretName" && text != "":
			all[k8s.Ref{Kind: "Secret", Name: text}] = true
		case key == "serviceAccountName" && text != "":
			all[k8s.Ref{Kind: "ServiceAccount", Name: text}] = true
		case kind != "" && name != "":
			all[k8s.Ref{Kind: kind, Name: name}] = true
		}
	})
	return all
}

// walk visits each field of an object's part, however deep.
func walk(value any, visit func(key string, inner any)) {
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			walk(inner, visit)
		}
	case map[string]any:
		for key, inner := range value {
			visit(key, inner)
			walk(inner, visit)
		}
	}
}
