//go:build peers

package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Plain are podman's arguments for any container of a test. Podman's own limits
// are more than some machines allow.
func Plain() []string {
	return []string{"--pull=never", "--http-proxy=false", "--log-driver=none", "--ulimit=nofile=1024:4096", "--ulimit=nproc=4096:4096"}
}

// arguments are podman's for the Pod's one container.
func (n *Node) arguments(t testing.TB, c *Container) []string {
	t.Helper()
	pod := c.Pod.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 || len(pod.HostAliases) > 0 || pod.DNSConfig != nil || pod.RuntimeClassName != nil {
		t.Fatalf("%s asks for what is not understood here: %+v", c.name, pod)
	}
	own := pod.Containers[0]
	args := append([]string{"run", "--rm", "--name=" + c.name, "--network=host"}, Plain()...)
	args = append(args, security(t, pod)...)
	args = append(args, limits(t, own)...)
	env := n.environment(t, c.Pod)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "--env="+name+"="+env[name])
	}
	volumes := n.volumes(t, c.Pod)
	for _, m := range own.VolumeMounts {
		from, known := volumes[m.Name]
		if !known || m.SubPathExpr != "" {
			t.Fatalf("the mount %+v is not understood here", m)
		}
		to := filepath.Join(from, m.SubPath) + ":" + m.MountPath
		if m.ReadOnly {
			to += ":ro"
		}
		args = append(args, "--volume="+to)
	}
	if len(own.Command) > 0 {
		entry, err := json.Marshal(own.Command)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--entrypoint="+string(entry))
	}
	return append(append(args, own.Image), own.Args...)
}

// security are the arguments for the contexts of the Pod and its container,
// which Pod Security makes each Pod have.
func security(t testing.TB, pod corev1.PodSpec) []string {
	t.Helper()
	of, own := pod.SecurityContext, pod.Containers[0].SecurityContext
	if pod.HostPID || pod.HostIPC || of.SeccompProfile == nil || of.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
		*own.AllowPrivilegeEscalation || own.RunAsUser != nil || own.SeccompProfile != nil || of.RunAsUser == nil || of.RunAsGroup == nil {
		t.Fatalf("the contexts %+v and %+v are not understood here", of, own)
	}
	args := []string{fmt.Sprintf("--user=%d:%d", *of.RunAsUser, *of.RunAsGroup), "--security-opt=no-new-privileges"}
	if of.FSGroup != nil {
		args = append(args, fmt.Sprintf("--group-add=%d", *of.FSGroup))
	}
	if own.ReadOnlyRootFilesystem != nil && *own.ReadOnlyRootFilesystem {
		args = append(args, "--read-only", "--read-only-tmpfs=false")
	}
	for _, c := range own.Capabilities.Drop {
		args = append(args, "--cap-drop="+string(c))
	}
	for _, c := range own.Capabilities.Add {
		args = append(args, "--cap-add="+string(c))
	}
	return args
}

func limits(t testing.TB, own corev1.Container) []string {
	t.Helper()
	var args []string
	for resource, limit := range own.Resources.Limits {
		switch resource {
		case corev1.ResourceMemory:
			args = append(args, fmt.Sprintf("--memory=%d", limit.Value()), fmt.Sprintf("--memory-swap=%d", limit.Value()))
		case corev1.ResourceCPU:
			args = append(args, "--cpus="+limit.AsDec().String())
		case corev1.ResourceEphemeralStorage: // of logs and volumes, which the kubelet looks at
		default:
			t.Fatalf("a limit of %s is not understood here", resource)
		}
	}
	return args
}
