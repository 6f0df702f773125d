package like

import (
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
			b.left("sidecar", "the proxy of the workload's environment is on loopback, port %d, and no container of its Pod declares that port; copy its sidecar by hand, as an init container with restartPolicy Always", port)
			continue
		}
		if slices.ContainsFunc(b.path.Pod.InitContainers, func(have corev1.Container) bool { return have.Name == c.Name }) {
			continue
		}
		if why := b.unfit(c); why != "" {
			b.left("sidecar "+c.Name, "%s; copy it by hand, as an init container with restartPolicy Always", why)
			continue
		}
		b.takeSidecar(c)
		b.copied("sidecar "+c.Name, "the workload's proxy is there, on loopback port %d; as a native sidecar it ends with perch", port)
	}
	return nil
}

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

// unfit says why a sidecar cannot be copied; empty: it can.
func (b *builder) unfit(c corev1.Container) string {
	for _, e := range c.Env {
		if e.Value != "" && looksSecret(e.Name) {
			return "its variable " + e.Name + " holds a plain value that looks like a secret"
		}
	}
	for _, m := range c.VolumeMounts {
		v, found := b.volume(m.Name)
		if found && v.EmptyDir == nil && v.DownwardAPI == nil {
			if _, why := given(v, ""); why != "" || v.HostPath != nil {
				return "it has the volume " + v.Name + ", which perch cannot share"
			}
		}
	}
	return ""
}

// looksSecret reports whether a variable's name is one that secrets have.
func looksSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "CREDENTIAL", "PRIVATE", "API_KEY", "APIKEY"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// takeSidecar adds the container and its volumes.
func (b *builder) takeSidecar(c corev1.Container) {
	c = *c.DeepCopy()
	c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	for i := range c.Ports {
		c.Ports[i].HostPort, c.Ports[i].Name = 0, "" // no monitor finds it by its port's name
	}
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		_, found := b.volume(m.Name)
		return !found || strings.HasPrefix(m.MountPath, "/var/run/secrets/kubernetes.io/")
	})
	for i, m := range c.VolumeMounts {
		v, _ := b.volume(m.Name)
		v.Name = b.volumeName(v.Name)
		c.VolumeMounts[i].Name = v.Name
		b.path.Pod.Volumes = append(b.path.Pod.Volumes, v)
	}
	b.path.Pod.InitContainers = append(b.path.Pod.InitContainers, c)
}
