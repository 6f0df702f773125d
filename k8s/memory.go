package k8s

import (
	"path"
	"slices"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perch.example/config"
)

// memory is what perch remembers in: for each shard an empty ConfigMap with a
// Lease, or a claim for all of them. They hold no data, so that applying them again
// leaves alone what perch has written.
func (b *maker) memory() []Object {
	switch state := b.cfg.State; {
	case state.ConfigMap != "":
		var objects []Object
		for _, name := range b.stateObjects() {
			objects = append(objects,
				&corev1.ConfigMap{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: b.meta(name)},
				&coordination.Lease{TypeMeta: meta.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, ObjectMeta: b.meta(name)},
			)
		}
		return objects
	case state.File != "":
		return []Object{b.claim()}
	}
	b.note("the config has no state: each run is the first, so that nobody is told of an incident and every and daily_limit hold within a run only; write state: {configmap: %s}", b.stateName())
	return nil
}

// stateObjects are the names of the ConfigMaps, and of their Leases.
func (b *maker) stateObjects() []string {
	if b.o.Kind != KindIndexedJob {
		return []string{b.cfg.State.ConfigMap}
	}
	names := make([]string, 0, b.o.Shards)
	for i := range b.o.Shards {
		names = append(names, b.shardObject(i))
	}
	return names
}

// shardObject is the name of one shard's. It asks about no target: which shard has
// which is dear to know where there are many of both.
func (b *maker) shardObject(i int) string {
	state := config.Config{State: b.cfg.State}
	return state.InShard(config.Shard{Index: i, Count: b.o.Shards}).State.ConfigMap
}

// claim is the volume of a state file.
func (b *maker) claim() Object {
	access := corev1.ReadWriteOnce
	if b.o.Kind == KindIndexedJob { // the shards' Pods may be on different nodes
		access = corev1.ReadWriteMany
		b.note("state.file: the %d shards share the claim %s, which needs a storage class with ReadWriteMany; state.configmap needs none", b.o.Shards, b.stateName())
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: b.meta(b.stateName()),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{access},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: mebibytes(16)}},
		},
	}
}

// keepInFile mounts the claim at the state file's folder.
func (b *maker) keepInFile(pod *corev1.PodSpec) {
	file := b.cfg.State.File
	if file == "" {
		return
	}
	folder := path.Dir(path.Clean(file))
	switch {
	case !path.IsAbs(file):
		b.refuse("state.file %s: the Pod would look for it in /, which is read-only; want a path such as /var/lib/perch/state", file)
		return
	case hides(folder):
		b.refuse("state.file %s: a volume at %s would hide what is there; want a path such as /var/lib/perch/state", file, folder)
		return
	}
	pod.SecurityContext.FSGroup = new(int64(user)) // makes the volume writable
	pod.SecurityContext.FSGroupChangePolicy = new(corev1.FSGroupChangeOnRootMismatch)
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "state", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: b.stateName()},
	}})
	main := &pod.Containers[0]
	main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: "state", MountPath: folder})
}

// hides reports whether a volume at a folder would lie over what perch needs: its
// own mounts, the image's authorities, the kernel's files, the account's token.
func hides(folder string) bool {
	own := []string{"/etc/perch", "/etc/ssl/certs", "/proc", "/sys", "/dev", "/var/run/secrets", "/run/secrets"}
	return folder == "/" || slices.ContainsFunc(own, func(needed string) bool { return inFolder(folder, needed) || inFolder(needed, folder) })
}

// inFolder reports whether a path is a folder, or lies in it.
func inFolder(name, folder string) bool {
	return name == folder || len(name) > len(folder) && name[:len(folder)] == folder && name[len(folder)] == '/'
}
