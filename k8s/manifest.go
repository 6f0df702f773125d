// Package k8s holds what perch is deployed with: the objects that `perch
// manifest` prints, and the folders base, overlays, components and chart, which a
// test holds to the same objects.
package k8s

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	corev1 "k8s.io/api/core/v1"
)

// Kind is how perch runs in a cluster.
type Kind string

// The kinds.
const (
	KindCronJob    Kind = "cronjob"     // a run at each instant of a schedule
	KindDeployment Kind = "deployment"  // perch serve
	KindIndexedJob Kind = "indexed-job" // a CronJob of indexed Jobs: the targets split into shards
)

// Path is what a workload's Pods have that decides their network path, ready to
// be given to perch's own Pod.
type Path struct {
	Workload  string // "Deployment shop/checkout"
	Namespace string
	// Labels and Annotations are added to perch's Pod. No Service, PodDisruptionBudget,
	// PodMonitor or other workload of the input selects a Pod that has them.
	Labels, Annotations map[string]string
	// Pod has only those fields set that are copied. Its one container has the
	// environment and the mounts to be added to perch's; its init containers are
	// native sidecars.
	Pod corev1.PodSpec
	// Policies are the clones, onto perch's own label, of policies that select the
	// workload: NetworkPolicies, Cilium policies, SecurityGroupPolicies...
	Policies []*unstructured.Unstructured
	Sidecar  *Sidecar // nil: none stands beside perch
	Copied   []Reason // what was copied, and why
	Left     []Reason // what could not be copied or must not be, and what to do about it
}

// Reason says of one thing why it was copied, or left.
type Reason struct{ What, Why string }

// Sidecar is the mesh's proxy beside perch.
type Sidecar struct {
	Mesh  string // "Istio", "Linkerd"
	Ready string // URL on loopback that answers 200 when it is ready
	Quit  string // URL on loopback that ends it when it gets a POST; empty: it is native and is ended by the kubelet
}
