package k8s

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pathLabel is on perch's Pod and what cloned policies select.
const pathLabel = "perch.example/path"

// onPath puts into perch's Pod what decides the application's network path. What
// perch's own Pod is made of stays.
func (b *maker) onPath(pod *corev1.PodTemplateSpec) {
	p := b.o.Path
	if p == nil {
		return
	}
	b.sayTaken("label", pod.Labels, p.Labels)
	b.sayTaken("annotation", pod.Annotations, p.Annotations)
	add(&pod.Labels, p.Labels)
	pod.Labels[pathLabel] = b.o.Name
	add(&pod.Annotations, p.Annotations)

	theirs := p.Pod.DeepCopy()
	rename(&pod.Spec, theirs)
	takeFields(&pod.Spec, theirs)
	pod.Spec.Volumes = append(pod.Spec.Volumes, theirs.Volumes...)
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, theirs.InitContainers...)
	if len(theirs.Containers) > 0 {
		b.joinContainer(&pod.Spec.Containers[0], theirs.Containers[0])
	}
}

// takeFields copies each field of the Pod that is set, but for those that are
// joined, and for those that perch's own rights and user are.
func takeFields(own, theirs *corev1.PodSpec) {
	to, from := reflect.ValueOf(own).Elem(), reflect.ValueOf(theirs).Elem()
	for i := range from.NumField() {
		switch from.Type().Field(i).Name {
		case "Containers", "InitContainers", "EphemeralContainers", "Volumes",
			"RestartPolicy", "SecurityContext", "TerminationGracePeriodSeconds", "ActiveDeadlineSeconds", "EnableServiceLinks",
			"AutomountServiceAccountToken":
			continue
		}
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	if theirs.AutomountServiceAccountToken != nil && *theirs.AutomountServiceAccountToken {
		own.AutomountServiceAccountToken = new(true)
	}
	if theirs.SecurityContext != nil { // a kernel's setting for connections is the path's, a user is not
		own.SecurityContext.Sysctls = theirs.SecurityContext.Sysctls
	}
}

// rename gives their volumes names that perch's own do not have.
func rename(own, theirs *corev1.PodSpec) {
	taken := map[string]bool{}
	for _, v := range slices.Concat(own.Volumes, theirs.Volumes) {
		taken[v.Name] = true
	}
	renamed := map[string]string{}
	for i, v := range theirs.Volumes {
		if !slices.ContainsFunc(own.Volumes, func(o corev1.Volume) bool { return o.Name == v.Name }) {
			continue
		}
		name := "path-" + v.Name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("path-%d-%s", n, v.Name)
		}
		taken[name], renamed[v.Name], theirs.Volumes[i].Name = true, name, name
	}
	for _, c := range slices.Concat(theirs.Containers, theirs.InitContainers) {
		for i, m := range c.VolumeMounts {
			if to, is := renamed[m.Name]; is {
				c.VolumeMounts[i].Name = to
			}
		}
	}
}

// joinContainer adds their environment and mounts to perch's container. What perch
// has already stays as it is, and is said.
func (b *maker) joinContainer(main *corev1.Container, theirs corev1.Container) {
	for _, e := range theirs.Env {
		if slices.ContainsFunc(main.Env, func(own corev1.EnvVar) bool { return own.Name == e.Name }) {
			b.note("not copied: the variable %s, which perch's Pod has for itself", e.Name)
			continue
		}
		main.Env = append(main.Env, e)
	}
	main.EnvFrom = append(main.EnvFrom, theirs.EnvFrom...)
	for _, m := range theirs.VolumeMounts {
		if slices.ContainsFunc(main.VolumeMounts, func(own corev1.VolumeMount) bool {
			return inFolder(m.MountPath, own.MountPath) || inFolder(own.MountPath, m.MountPath)
		}) {
			b.note("not copied: the mount at %s, where perch's Pod has one of its own", m.MountPath)
			continue
		}
		main.VolumeMounts = append(main.VolumeMounts, m)
	}
}

// sayTaken tells of what is not copied since perch has its own.
func (b *maker) sayTaken(what string, own, theirs map[string]string) {
	for _, key := range sortedKeys(theirs) {
		if _, taken := own[key]; taken {
			b.note("not copied: the %s %s, which perch's Pod has for itself", what, key)
		}
	}
}

// sidecarFlags let a run wait for the mesh's proxy, and end it.
func (b *maker) sidecarFlags() []string {
	if b.o.Path == nil || b.o.Path.Sidecar == nil {
		return nil
	}
	var flags []string
	if ready := b.o.Path.Sidecar.Ready; ready != "" {
		flags = append(flags, "--wait-for="+ready)
	}
	if quit := b.o.Path.Sidecar.Quit; quit != "" {
		flags = append(flags, "--quit="+quit)
	}
	return flags
}

// clones are the application's policies, onto perch's own label.
func (b *maker) clones() []Object {
	if b.o.Path == nil {
		return nil
	}
	var objects []Object
	for _, policy := range b.o.Path.Policies {
		objects = append(objects, policy.DeepCopy())
	}
	return objects
}

// sayPath tells what was copied, and what was left.
func (b *maker) sayPath() {
	p := b.o.Path
	if p == nil {
		return
	}
	for _, c := range p.Copied {
		b.note("copied from %s: %s: %s", p.Workload, c.What, c.Why)
	}
	for _, l := range p.Left {
		b.note("left of %s: %s: %s", p.Workload, l.What, l.Why)
	}
}

// proxies are those that notices, pushes and probes go through, by the environment
// that is copied.
func (b *maker) proxies() []reach {
	if b.o.Path == nil || len(b.o.Path.Pod.Containers) == 0 {
		return nil
	}
	var all []reach
	for _, e := range b.o.Path.Pod.Containers[0].Env {
		switch strings.ToLower(e.Name) {
		case "http_proxy", "https_proxy", "all_proxy":
		default:
			continue
		}
		text := e.Value
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			all = append(all, reach{e.Name, u})
		}
	}
	return all
}

// Ref names an object as a cluster does: what has the same one is the same object.
type Ref struct{ Group, Kind, Namespace, Name string }

// RefOf is an object's. Without a namespace it may come to stand in any.
func RefOf(o Object) Ref {
	kind := o.GetObjectKind().GroupVersionKind()
	return Ref{kind.Group, kind.Kind, o.GetNamespace(), o.GetName()}
}

// refuseTaken refuses names that objects of the application have: applied, perch's
// would take their place, and its Secret would be perch's.
func (b *maker) refuseTaken(objects []Object) {
	if b.o.Path == nil {
		return
	}
	theirs := map[Ref]bool{}
	for _, r := range b.o.Path.Taken {
		theirs[r] = true
	}
	refs := []Ref{{Kind: "Secret", Namespace: b.o.Namespace, Name: b.o.Name}} // it is mounted whole
	for _, o := range objects {
		refs = append(refs, RefOf(o))
	}
	var taken []string
	for _, r := range refs {
		anywhere := Ref{Group: r.Group, Kind: r.Kind, Name: r.Name} // as what helm template prints
		if theirs[r] || theirs[anywhere] {
			taken = append(taken, r.Kind+" "+r.Name)
		}
	}
	if len(taken) > 0 {
		b.refuse("--name %s: the application has objects that perch's would overwrite, or that perch would read: %s; choose another --name",
			b.o.Name, strings.Join(taken, ", "))
	}
}
