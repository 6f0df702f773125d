//go:build peers

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Node is what a cluster without nodes lacks: it binds a Pod to itself as the
// scheduler does, runs it with podman as the kubelet has a runtime do, and tells
// the API server how it ended. What a Pod asks for that Node does not
// understand fails the test: nothing is left out in silence.
type Node struct {
	Name, Zone string

	cluster *Cluster
	podman  func(args ...string) *exec.Cmd
	dir     string // of volumes
}

// NewNode makes the Node object. podman gives a command with a storage that has
// the Pods' images. Nothing renews the node's lease, so that after a minute it
// counts as lost; its Pods are taken off it five minutes later.
func (c *Cluster) NewNode(podman func(args ...string) *exec.Cmd) *Node {
	c.t.Helper()
	n := &Node{Name: "node-a", Zone: "tokyo-1", cluster: c, podman: podman, dir: c.file("volumes")}
	c.Do("POST", "/api/v1/nodes", fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"topology.kubernetes.io/zone": %q}}}`, n.Name, n.Zone), nil)
	return n
}

// Container is a Pod's, which runs or has ended.
type Container struct {
	Pod corev1.Pod // bound to the node

	node *Node
	name string // podman's
	cmd  *exec.Cmd
	out  log
	errs log
}

// Start binds a Pod to the node and starts its container, which ends with the
// test at the latest.
func (n *Node) Start(t testing.TB, pod corev1.Pod) *Container {
	t.Helper()
	c := &Container{Pod: n.bind(t, pod), node: n, name: pod.Namespace + "-" + pod.Name}
	c.cmd = n.podman(n.arguments(t, c)...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.errs
	// An interrupt at the terminal is the test's, which ends it in order.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("starting podman: %v", err)
	}
	t.Cleanup(func() { _ = n.podman("rm", "--force", "--time=0", c.name).Run() })
	return c
}

// Run is Start and Wait.
func (n *Node) Run(t testing.TB, pod corev1.Pod) (*Container, int) {
	t.Helper()
	c := n.Start(t, pod)
	return c, c.Wait(t)
}

// bind does the scheduler's part, and returns the Pod as it is then: the server
// has copied the node's zone onto it.
func (n *Node) bind(t testing.TB, pod corev1.Pod) corev1.Pod {
	t.Helper()
	n.cluster.Do("POST", podPath(pod)+"/binding", fmt.Sprintf(`{"metadata": {"name": %q}, "target": {"kind": "Node", "name": %q}}`, pod.Name, n.Name), nil)
	var bound corev1.Pod
	n.cluster.Do("GET", podPath(pod), "", &bound)
	return bound
}

func podPath(pod corev1.Pod) string {
	return "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name
}

// Wait returns the container's exit status, once it has ended and the API server
// knows it.
func (c *Container) Wait(t testing.TB) int {
	t.Helper()
	err := c.cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatalf("waiting for %s: %v", c.name, err)
	}
	code := c.cmd.ProcessState.ExitCode()
	if code >= 125 && code <= 127 { // podman's own
		t.Fatalf("podman could not run %s:\n%s", c.name, c.Stderr())
	}
	status := corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
		Name: c.Pod.Spec.Containers[0].Name, Image: c.Pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code)}},
	}}}
	if code != 0 {
		status.Phase = corev1.PodFailed
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	c.node.cluster.Do("PATCH", podPath(c.Pod)+"/status", string(patch), nil)
	return code
}

// Stop ends the container as the kubelet does, with SIGTERM, and with SIGKILL
// after the Pod's grace, and returns its exit status.
func (c *Container) Stop(t testing.TB) int {
	t.Helper()
	grace := strconv.FormatInt(*c.Pod.Spec.TerminationGracePeriodSeconds, 10)
	if out, err := c.node.podman("stop", "--time="+grace, c.name).CombinedOutput(); err != nil {
		t.Fatalf("stopping %s: %v\n%s", c.name, err, out)
	}
	return c.Wait(t)
}

// Stdout is what the container has written there so far.
func (c *Container) Stdout() string { return c.out.String() }

// Stderr is what the container has written there so far.
func (c *Container) Stderr() string { return c.errs.String() }
