package like

import (
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// mount gives perch what lies at a path of the workload's container, and reports
// whether it has it. Of a volume only the file is given, and of a folder only what
// no key can be: beside a certificate its key may lie.
func (b *builder) mount(at string, isFile bool, because string) bool {
	m, found := b.covering(at)
	if !found {
		b.left(at, "%s: it lies in the workload's image, which perch's is not; mount it from a ConfigMap, or %s", because, byHand)
		return false
	}
	mounted := path.Clean(m.MountPath)
	if mounted == "/etc/perch" || inside(mounted, "/etc/perch") || inside("/etc/perch", mounted) {
		b.left(at, "%s: it would lie on perch's own files; %s", because, byHand)
		return false
	}
	if m.SubPathExpr != "" {
		b.left(at, "%s: which of the volume's folders it is depends on the workload's variables; %s", because, byHand)
		return false
	}
	v, found := b.volume(m.Name)
	if !found {
		b.left(at, "%s: the volume %s is not among the workload's", because, m.Name)
		return false
	}
	wanted := path.Join(m.SubPath, strings.TrimPrefix(strings.TrimPrefix(at, mounted), "/"))
	kept, why := b.given(v, wanted, isFile)
	if why != "" {
		b.left(at, "%s: %s; %s", because, why, byHand)
		return false
	}
	if kept.HostPath != nil { // it is that file or folder alone
		m.MountPath, m.SubPath = at, ""
	}
	b.keep(kept, m)
	b.copied("mount "+m.MountPath, "%s: authorities that the workload trusts, from %s", because, sourceOf(kept))
	return true
}

// byHand is what to do about authorities that perch does not get.
const byHand = "give the authorities to each target as tls.ca_file"

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
	case to.Projected != nil && more.Projected != nil:
		to.Projected.Sources = append(to.Projected.Sources, more.Projected.Sources...)
	}
}

// volumeName keeps a volume's name apart from perch's own.
func (b *builder) volumeName(name string) string {
	const most = 63
	name = "path-" + name
	name = strings.TrimRight(name[:min(len(name), most-4)], "-")
	for n, tried := 2, name; ; n++ {
		if !slices.ContainsFunc(b.path.Pod.Volumes, func(v corev1.Volume) bool { return v.Name == tried }) {
			return tried
		}
		tried = name + "-" + strconv.Itoa(n)
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
