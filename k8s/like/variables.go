package like

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// variables are those of the workload's container, as far as the input tells.
type variables struct {
	all     map[string]corev1.EnvVar
	values  map[string]string // of those whose value is known
	unknown []string          // where more may come from
}

// variablesOf reads a container's environment. A value that comes from an object
// stays a reference to it, so that a Secret's never stands in a manifest.
func (b *builder) variablesOf(c corev1.Container) variables {
	v := variables{all: map[string]corev1.EnvVar{}, values: map[string]string{}}
	for _, from := range c.EnvFrom {
		switch {
		case from.ConfigMapRef != nil:
			b.fromObject(&v, "ConfigMap", from.ConfigMapRef.Name, from.Prefix)
		case from.SecretRef != nil:
			b.fromObject(&v, "Secret", from.SecretRef.Name, from.Prefix)
		}
	}
	for _, e := range c.Env {
		v.all[e.Name] = e
		delete(v.values, e.Name)
		if e.ValueFrom == nil {
			v.values[e.Name] = e.Value
		} else if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
			if o, found := b.named("ConfigMap", ref.Name); found {
				if value, is := within(o.Object, "data")[ref.Key].(string); is {
					v.values[e.Name] = value
				}
			}
		}
	}
	return v
}

// fromObject adds a variable for each key of a ConfigMap or a Secret. Of a Secret
// only the names of its keys are looked at.
func (b *builder) fromObject(v *variables, kind, name, prefix string) {
	o, found := b.named(kind, name)
	if !found {
		v.unknown = append(v.unknown, kind+" "+name)
		return
	}
	data := within(o.Object, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) {
		e := corev1.EnvVar{Name: prefix + key, ValueFrom: &corev1.EnvVarSource{}}
		ref := corev1.LocalObjectReference{Name: name}
		if kind == "Secret" {
			e.ValueFrom.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: ref, Key: key, Optional: new(true)}
		} else {
			e.ValueFrom.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: ref, Key: key, Optional: new(true)}
		}
		v.all[e.Name] = e
		delete(v.values, e.Name)
		if value, is := data[key].(string); is && kind == "ConfigMap" {
			v.values[e.Name] = value
		}
	}
}

// named finds an object of the workload's namespace.
func (b *builder) named(kind, name string) (object, bool) {
	for _, o := range b.in {
		if o.is("", kind) && o.GetName() == name && o.in(b.app.namespace) {
			return o, true
		}
	}
	return object{}, false
}
