package like

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// beside copies the sidecar without which there is no way out: the one where the
// workload's proxy listens on loopback. It becomes a native one, which the
// kubelet starts before perch and ends after it.
func (b *builder) beside() error {
	ports := loopbackPorts(b.variablesOf(b.main))
	slices.Sort(ports)
	for _, port := range slices.Compact(ports) {
		c, found := b.listening(port)
		if !found {
			b.left("sidecar", "the proxy of the workload's environment is on loopback, port %d, and no container of its Pod declares that port; %s", port, sidecarByHand)
			continue
		}
		if slices.ContainsFunc(b.path.Pod.InitContainers, func(have corev1.Container) bool { return have.Name == c.Name }) {
			continue
		}
		if why := b.unfit(c); why != "" {
			b.left("sidecar "+c.Name, "the workload's proxy is there, and it is not copied: %s; %s", why, sidecarByHand)
			continue
		}
		b.takeSidecar(c)
		b.copied("sidecar "+c.Name, "the workload's proxy is there, on loopback port %d; as a native sidecar it ends with perch%s", port, takes(c))
		b.left("sidecar "+c.Name, "perch's NetworkPolicy knows nothing of where it goes: add a rule for that; and it runs without rights, as perch's user unless it names another")
	}
	return nil
}

// sidecarByHand is what to do about a sidecar that perch does not get.
const sidecarByHand = "copy it by hand, as an init container with restartPolicy Always: until then nothing listens there, and perch's notices and pushes fail"

// listening is the container beside the workload's that declares a port.
func (b *builder) listening(port int32) (corev1.Container, bool) {
	spec := b.w.template.Spec
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if c.Name != b.main.Name && slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == port }) {
			return c, true
		}
	}
	return corev1.Container{}, false
}

// unfit says why a sidecar cannot be copied; empty: it can. Perch must get no more
// by it than the way out: no secret in plain, no whole Secret, no right.
func (b *builder) unfit(c corev1.Container) string {
	if why := shows(c); why != "" {
		return why
	}
	if i := slices.IndexFunc(c.EnvFrom, func(e corev1.EnvFromSource) bool { return e.ConfigMapRef == nil }); i >= 0 {
		return "its variables are all keys of a Secret"
	}
	if right := rightOf(c.SecurityContext); right != "" {
		return "it runs with a right that perch's Pod must not have (" + right + ")"
	}
	if len(c.VolumeDevices) > 0 {
		return "it has a raw block device"
	}
	for _, m := range c.VolumeMounts {
		v, found := b.volume(m.Name)
		if !found || ofAccount(m) {
			continue
		}
		if v.EmptyDir == nil && v.ConfigMap == nil && v.DownwardAPI == nil {
			return "it has the volume " + v.Name + ", which may hold secrets, or more than the way out needs"
		}
		if m.SubPathExpr != "" {
			return "where its volume " + v.Name + " is mounted depends on variables"
		}
	}
	return ""
}

// shows says where a container has what looks like a credential; empty: nowhere.
func shows(c corev1.Container) string {
	for _, e := range c.Env {
		if e.Value != "" && (credentialName(e.Name) || credentialText(e.Value)) {
			return "its variable " + e.Name + " holds a plain value that looks like a secret"
		}
	}
	words := slices.Concat(c.Command, c.Args)
	for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if p != nil && p.Exec != nil {
			words = append(words, p.Exec.Command...)
		}
		if p != nil && p.HTTPGet != nil && len(p.HTTPGet.HTTPHeaders) > 0 {
			return "its probe sends headers, which may hold a secret"
		}
	}
	if credentialArgs(words) {
		return "its command line holds what looks like a secret"
	}
	return ""
}

// rightOf names a right of a container that Pod Security's level restricted
// forbids; empty: there is none.
func rightOf(s *corev1.SecurityContext) string {
	if s == nil {
		return ""
	}
	switch {
	case s.Privileged != nil && *s.Privileged:
		return "privileged"
	case s.RunAsUser != nil && *s.RunAsUser == 0, s.RunAsNonRoot != nil && !*s.RunAsNonRoot:
		return "root"
	case s.AllowPrivilegeEscalation != nil && *s.AllowPrivilegeEscalation:
		return "allowPrivilegeEscalation"
	case s.ProcMount != nil && *s.ProcMount != corev1.DefaultProcMount:
		return "procMount"
	case s.SELinuxOptions != nil, s.WindowsOptions != nil:
		return "a security label of its own"
	case s.SeccompProfile != nil && s.SeccompProfile.Type == corev1.SeccompProfileTypeUnconfined,
		s.AppArmorProfile != nil && s.AppArmorProfile.Type == corev1.AppArmorProfileTypeUnconfined:
		return "unconfined"
	}
	if s.Capabilities != nil {
		for _, c := range s.Capabilities.Add {
			if c != "NET_BIND_SERVICE" {
				return string(c)
			}
		}
	}
	return ""
}

// takes says which single keys of Secrets a sidecar reads, for it cannot do
// without.
func takes(c corev1.Container) string {
	var keys []string
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			keys = append(keys, fmt.Sprintf("%s of Secret %s", e.ValueFrom.SecretKeyRef.Key, e.ValueFrom.SecretKeyRef.Name))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "; it reads " + inWords(keys)
}

// ofAccount reports whether a mount is the API server's token, which a Pod shows
// and a template has not.
func ofAccount(m corev1.VolumeMount) bool {
	return strings.HasPrefix(m.MountPath, "/var/run/secrets/kubernetes.io/")
}

// takeSidecar adds of the container what makes it listen, and its volumes.
func (b *builder) takeSidecar(from corev1.Container) {
	from = *from.DeepCopy()
	c := corev1.Container{
		Name: from.Name, Image: from.Image, ImagePullPolicy: from.ImagePullPolicy, Command: from.Command, Args: from.Args, WorkingDir: from.WorkingDir,
		Ports: from.Ports, EnvFrom: from.EnvFrom, Env: from.Env, Resources: from.Resources,
		StartupProbe: from.StartupProbe, LivenessProbe: from.LivenessProbe, ReadinessProbe: from.ReadinessProbe,
		RestartPolicy: new(corev1.ContainerRestartPolicyAlways), SecurityContext: confined(from.SecurityContext),
	}
	for i := range c.Ports {
		c.Ports[i].HostPort, c.Ports[i].HostIP, c.Ports[i].Name = 0, "", "" // no monitor finds it by its port's name
	}
	for _, m := range from.VolumeMounts {
		v, found := b.volume(m.Name)
		if !found || ofAccount(m) {
			continue
		}
		v.Name = b.volumeName(v.Name)
		m.Name, m.MountPropagation = v.Name, nil
		c.VolumeMounts = append(c.VolumeMounts, m)
		b.path.Pod.Volumes = append(b.path.Pod.Volumes, v)
	}
	b.path.Pod.InitContainers = append(b.path.Pod.InitContainers, c)
}

// confined is a container's context as Pod Security's level restricted wants it,
// with its own user.
func confined(from *corev1.SecurityContext) *corev1.SecurityContext {
	to := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	if from != nil {
		to.RunAsUser, to.RunAsGroup, to.ReadOnlyRootFilesystem = from.RunAsUser, from.RunAsGroup, from.ReadOnlyRootFilesystem
		if from.Capabilities != nil {
			to.Capabilities.Add = from.Capabilities.Add
		}
	}
	return to
}
