package like

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// given is what perch gets of a volume: the wanted file, or of the wanted folder
// what holds authorities alone. Modes are dropped: they are for the workload's user
// and group. why says what keeps it from being given.
func (b *builder) given(v corev1.Volume, wanted string, isFile bool) (kept corev1.Volume, why string) {
	s := &v.VolumeSource
	switch {
	case s.ConfigMap != nil:
		s.ConfigMap.DefaultMode = nil
		if isFile {
			s.ConfigMap.Items, why = only(s.ConfigMap.Items, wanted)
		}
	case s.Secret != nil:
		s.Secret.DefaultMode = nil
		if isFile {
			s.Secret.Items, why = only(s.Secret.Items, wanted)
		} else {
			s.Secret.Items, why = certificates(s.Secret.Items)
		}
	case s.Projected != nil:
		s.Projected.DefaultMode = nil
		if isFile {
			s.Projected.Sources, why = b.projectedFile(s.Projected.Sources, wanted)
		} else {
			s.Projected.Sources, why = projectedFolder(s.Projected.Sources)
		}
	case s.HostPath != nil:
		return ofNode(v, wanted, isFile)
	case s.CSI != nil:
		why = "the driver " + s.CSI.Driver + " serves a whole volume of it, in which keys and other secrets may lie"
	case s.EmptyDir != nil:
		why = "an init container of the workload fills it"
	default:
		why = "it lies on a volume that perch must not hold, for the workload may need it alone"
	}
	return v, why
}

// only is the item of a file, which is a key of that name unless items say
// otherwise.
func only(items []corev1.KeyToPath, file string) ([]corev1.KeyToPath, string) {
	for _, k := range items {
		if path.Clean(k.Path) == file {
			return []corev1.KeyToPath{{Key: k.Key, Path: k.Path}}, ""
		}
	}
	if len(items) > 0 || file == "" || strings.Contains(file, "/") {
		return nil, "the volume has no such file"
	}
	return []corev1.KeyToPath{{Key: file, Path: file}}, ""
}

// certificates are the items of a Secret that are called as authorities are. A
// plain .pem may have its key in it.
func certificates(items []corev1.KeyToPath) ([]corev1.KeyToPath, string) {
	var kept []corev1.KeyToPath
	for _, k := range items {
		name := strings.ReplaceAll(strings.ToLower(k.Key+"\n"+k.Path), "certificate", "")
		called := regexp.MustCompile("ca|root|trust|bundle").MatchString(name) && !strings.Contains(name, "key")
		if called && slices.Contains([]string{".crt", ".cer", ".pem", ".0"}, path.Ext(strings.ToLower(k.Path))) {
			kept = append(kept, corev1.KeyToPath{Key: k.Key, Path: k.Path})
		}
	}
	if len(kept) == 0 {
		return nil, "it is a Secret, and which of its keys are authorities and no private keys is not said"
	}
	return kept, ""
}

// projectedFile is the one source of a file: that which names it, or the only one
// that can have it.
func (b *builder) projectedFile(sources []corev1.VolumeProjection, file string) ([]corev1.VolumeProjection, string) {
	var named, may []corev1.VolumeProjection
	for _, p := range sources {
		var items *[]corev1.KeyToPath
		switch {
		case p.ClusterTrustBundle != nil && path.Clean(p.ClusterTrustBundle.Path) == file:
			named = append(named, p)
			continue
		case p.ConfigMap != nil:
			items = &p.ConfigMap.Items
		case p.Secret != nil:
			items = &p.Secret.Items
		default:
			continue
		}
		all := len(*items) == 0
		one, why := only(*items, file)
		if why != "" || (all && b.lacks(p, file)) {
			continue
		}
		*items = one
		if all && !b.hasKey(p, file) {
			may = append(may, p)
		} else {
			named = append(named, p)
		}
	}
	if len(named) > 0 {
		return named[len(named)-1:], "" // the last one wins
	}
	if len(may) != 1 {
		return nil, "which of its objects the file comes from is not said"
	}
	return may, ""
}

// hasKey reports whether the input holds a source's ConfigMap with that key.
func (b *builder) hasKey(p corev1.VolumeProjection, key string) bool {
	if p.ConfigMap == nil {
		return false
	}
	o, found := b.named("ConfigMap", p.ConfigMap.Name)
	return found && within(o.Object, "data")[key] != nil
}

// lacks reports whether the input holds a source's ConfigMap without that key.
func (b *builder) lacks(p corev1.VolumeProjection, key string) bool {
	if p.ConfigMap == nil {
		return false
	}
	_, found := b.named("ConfigMap", p.ConfigMap.Name)
	return found && !b.hasKey(p, key)
}

// projectedFolder leaves the workload's tokens out, and of Secrets what is not
// called as a certificate.
func projectedFolder(sources []corev1.VolumeProjection) ([]corev1.VolumeProjection, string) {
	var kept []corev1.VolumeProjection
	for _, p := range sources {
		switch {
		case p.ClusterTrustBundle != nil, p.ConfigMap != nil:
			kept = append(kept, p)
		case p.Secret != nil:
			items, why := certificates(p.Secret.Items)
			if why != "" {
				return nil, why
			}
			p.Secret.Items = items
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return nil, "the volume holds nothing but the workload's own tokens"
	}
	return kept, ""
}

// ofNode narrows a folder of the node to the file, or to a folder where
// authorities lie.
func ofNode(v corev1.Volume, wanted string, isFile bool) (corev1.Volume, string) {
	full := path.Join(v.HostPath.Path, wanted)
	if !isFile && !slices.ContainsFunc(authorityPlaces(), func(place string) bool { return full == place || inside(full, place) }) {
		return v, "it is a folder of the node, where others lie than authorities"
	}
	v.HostPath = &corev1.HostPathVolumeSource{Path: full, Type: new(corev1.HostPathDirectory)}
	if isFile {
		v.HostPath.Type = new(corev1.HostPathFile)
	}
	return v, ""
}

// sourceOf names where a volume comes from, and what to know of it.
func sourceOf(v corev1.Volume) string {
	s := v.VolumeSource
	switch {
	case s.ConfigMap != nil:
		return "ConfigMap " + s.ConfigMap.Name
	case s.Secret != nil:
		return "Secret " + s.Secret.SecretName + ", " + keysOf(s.Secret.Items)
	case s.HostPath != nil:
		return "the node's " + s.HostPath.Path + ", which Pod Security's levels baseline and restricted forbid"
	}
	var names []string
	for _, p := range s.Projected.Sources {
		switch {
		case p.ConfigMap != nil:
			names = append(names, "ConfigMap "+p.ConfigMap.Name)
		case p.Secret != nil:
			names = append(names, "Secret "+p.Secret.Name+", "+keysOf(p.Secret.Items))
		case p.ClusterTrustBundle != nil:
			names = append(names, "a ClusterTrustBundle")
		}
	}
	return inWords(names)
}

func keysOf(items []corev1.KeyToPath) string {
	var keys []string
	for _, k := range items {
		keys = append(keys, k.Key)
	}
	return "of it " + inWords(keys) + " alone"
}
