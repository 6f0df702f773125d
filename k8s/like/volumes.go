package like

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// mount gives perch what is mounted at a path of the workload's container, and
// reports whether it has it. Of a file only that file is given: beside a
// certificate its key may lie.
func (b *builder) mount(at string, isFile bool, because string) bool {
	m, found := b.covering(at)
	if !found {
		b.left(at, "%s: it lies in the workload's image, which perch's is not; mount it from a ConfigMap, or give it to each target as tls.ca_file", because)
		return false
	}
	if path.Clean(m.MountPath) == "/etc/perch" || inside(path.Clean(m.MountPath), "/etc/perch") || inside("/etc/perch", path.Clean(m.MountPath)) {
		b.left(at, "%s: it would lie on perch's own files; give it to each target as tls.ca_file", because)
		return false
	}
	v, found := b.volume(m.Name)
	if !found {
		b.left(at, "%s: the volume %s is not among the workload's", because, m.Name)
		return false
	}
	name := ""
	if isFile && path.Dir(at) == path.Clean(m.MountPath) {
		name = path.Base(at) // else it is a mount of one file, or lies deeper
	}
	if m.SubPath != "" {
		name = m.SubPath
	}
	kept, why := given(v, name)
	if why != "" {
		b.left(at, "%s: %s", because, why)
		return false
	}
	b.keep(kept, m)
	b.copied("mount "+m.MountPath, "%s: authorities that the workload trusts, from %s", because, sourceOf(kept))
	return true
}

// keep adds a volume and its mount to perch's Pod, under a name of their own. Two
// files of one volume are two volumes, each with its file.
func (b *builder) keep(v corev1.Volume, m corev1.VolumeMount) {
	pod, c := &b.path.Pod, &b.path.Pod.Containers[0]
	for i, other := range c.VolumeMounts {
		if path.Clean(other.MountPath) == path.Clean(m.MountPath) {
			j := slices.IndexFunc(pod.Volumes, func(have corev1.Volume) bool { return have.Name == other.Name })
			merge(&pod.Volumes[j], v)
			c.VolumeMounts[i] = other
			return
		}
	}
	v.Name = b.volumeName(v.Name)
	pod.Volumes = append(pod.Volumes, v)
	m.Name, m.ReadOnly, m.MountPropagation = v.Name, true, nil
	c.VolumeMounts = append(c.VolumeMounts, m)
}

// merge adds to a volume the keys that another file of it needs.
func merge(to *corev1.Volume, more corev1.Volume) {
	add := func(have *[]corev1.KeyToPath, extra []corev1.KeyToPath) {
		if len(*have) == 0 || len(extra) == 0 {
			*have = nil // all of it
			return
		}
		for _, k := range extra {
			if !slices.ContainsFunc(*have, func(h corev1.KeyToPath) bool { return h.Path == k.Path }) {
				*have = append(*have, k)
			}
		}
	}
	switch {
	case to.ConfigMap != nil && more.ConfigMap != nil:
		add(&to.ConfigMap.Items, more.ConfigMap.Items)
	case to.Secret != nil && more.Secret != nil:
		add(&to.Secret.Items, more.Secret.Items)
	}
}

// volumeName keeps a volume's name apart from perch's own.
func (b *builder) volumeName(name string) string {
	const most = 63
	name = "path-" + name
	name = name[:min(len(name), most-3)]
	for n, tried := 2, name; ; n++ {
		if !slices.ContainsFunc(b.path.Pod.Volumes, func(v corev1.Volume) bool { return v.Name == tried }) {
			return tried
		}
		tried = name + "-" + string(rune('0'+n%10))
		if n > 9 {
			return tried
		}
	}
}

// covering is the deepest mount over a path.
func (b *builder) covering(at string) (corev1.VolumeMount, bool) {
	var best corev1.VolumeMount
	for _, m := range b.main.VolumeMounts {
		mounted := path.Clean(m.MountPath)
		if (mounted == at || inside(at, mounted)) && len(m.MountPath) > len(best.MountPath) {
			best = m
		}
	}
	return best, best.Name != ""
}

func (b *builder) volume(name string) (corev1.Volume, bool) {
	i := slices.IndexFunc(b.w.template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return corev1.Volume{}, false
	}
	return *b.w.template.Spec.Volumes[i].DeepCopy(), true
}

// given is what perch gets of a volume: of one that holds keys, where a file is
// named, that alone. Modes are dropped: they are for the workload's user and
// group. why says what keeps it from being given.
func given(v corev1.Volume, file string) (kept corev1.Volume, why string) {
	s := &v.VolumeSource
	switch {
	case s.ConfigMap != nil:
		s.ConfigMap.Items, s.ConfigMap.DefaultMode = only(s.ConfigMap.Items, file), nil
	case s.Secret != nil:
		s.Secret.Items, s.Secret.DefaultMode = only(s.Secret.Items, file), nil
	case s.Projected != nil:
		s.Projected.DefaultMode = nil
		s.Projected.Sources = slices.DeleteFunc(s.Projected.Sources, func(p corev1.VolumeProjection) bool {
			return p.ServiceAccountToken != nil || p.PodCertificate != nil
		})
		for _, p := range s.Projected.Sources {
			if p.Secret != nil {
				p.Secret.Items = only(p.Secret.Items, file)
			}
		}
		if len(s.Projected.Sources) == 0 {
			return v, "the volume holds nothing but the workload's own tokens"
		}
	case s.HostPath != nil, s.CSI != nil:
	case s.EmptyDir != nil:
		return v, "an init container of the workload fills it; give the authorities to each target as tls.ca_file"
	default:
		return v, "it lies on a volume that perch must not hold, for the workload may need it alone; give the authorities to each target as tls.ca_file"
	}
	return v, ""
}

// only is the item of a file, which is a key of that name unless items say
// otherwise.
func only(items []corev1.KeyToPath, file string) []corev1.KeyToPath {
	if file == "" {
		return items
	}
	for _, k := range items {
		if path.Clean(k.Path) == file {
			return []corev1.KeyToPath{{Key: k.Key, Path: k.Path}}
		}
	}
	if len(items) > 0 {
		return items
	}
	return []corev1.KeyToPath{{Key: file, Path: file}}
}

// sourceOf names where a volume comes from, and what to know of it.
func sourceOf(v corev1.Volume) string {
	s := v.VolumeSource
	switch {
	case s.ConfigMap != nil:
		return "ConfigMap " + s.ConfigMap.Name
	case s.Secret != nil:
		return "Secret " + s.Secret.SecretName
	case s.HostPath != nil:
		return "the node's " + s.HostPath.Path + ", which Pod Security's levels baseline and restricted forbid"
	case s.CSI != nil:
		return "the driver " + s.CSI.Driver + ", which must serve perch's account, too"
	}
	return "several objects"
}
