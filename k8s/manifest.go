// Package k8s holds what perch is deployed with: the objects that `perch
// manifest` prints, and the folders base, overlays, components and chart, which a
// test holds to the same objects.
package k8s

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perch.example/config"
	"perch.example/plan"
)

// Kind is how perch runs in a cluster.
type Kind string

// The kinds.
const (
	KindCronJob    Kind = "cronjob"     // a run at each instant of a schedule
	KindDeployment Kind = "deployment"  // perch serve
	KindIndexedJob Kind = "indexed-job" // a CronJob of indexed Jobs: the targets split into shards
)

// Options are what a manifest depends on beside the config. The zero value makes
// a CronJob called perch in the namespace that it is applied to.
type Options struct {
	Name      string // of the objects; empty: perch
	Namespace string // empty: the Path's, or that which the manifest is applied to
	Image     string // empty: perch
	Kind      Kind   // empty: KindCronJob
	Shards    int    // of KindIndexedJob, 2 and more; else 0
	Replicas  int    // of KindDeployment: of several one probes, by the Lease of its state; 0: one
	// Schedule is a CronJob's, in place of the one that follows from the config: an
	// interval (15m), of which the manifest chooses the minute, or cron's five fields.
	Schedule string
	// Files are the config's own, as they are: comments survive. Their names become
	// the keys of the ConfigMap.
	Files []config.File
	// Calls are the files of calls that the config names without a whole path, each once, by
	// the names that it has for them. They go beside the config.
	Calls []config.File
	// PerchName and Vantage are PERCH_NAME and PERCH_VANTAGE, which win over the files
	// and so have to stand in the Pod, too; empty: not set.
	PerchName, Vantage string
	// Policy is the platform's ConfigMap with a policy.yaml; empty: perch-policy.
	Policy string
	Path   *Path // what decides the application's network path; nil: nothing is copied
	// APIServer are the API server's addresses, or blocks of them, to which alone its
	// ports are let out; empty: any address.
	APIServer []string
	// NoPodMonitor leaves it out, for a cluster that does not know the kind.
	NoPodMonitor  bool
	MonitorLabels map[string]string // of the PodMonitor, beside perch's own
}

// Object is one object, typed where k8s.io/api has a type.
type Object interface {
	meta.Object
	runtime.Object
}

// Manifest is what perch is deployed with, in the order in which it is applied.
type Manifest struct {
	Objects []Object
	Notes   []string // what is right as it is, but has to be known or done
	Head    []string // lines of the comment on top of what Write writes
}

// maker makes the objects of one manifest, and collects on its way what is
// wrong and what has to be said.
type maker struct {
	cfg     config.Config
	plan    *plan.Plan
	o       Options
	files   map[string]string // the config's bytes, by their names in the ConfigMap
	notes   []string
	refused []error
}

// New makes the manifest of a config. p is the whole config's plan, with
// everything due and no deadline; a Deployment's is of the config as perch serve takes it. The error holds everything that is wrong, one a
// line; it is the command line's or the config's.
func New(cfg config.Config, p *plan.Plan, o Options) (*Manifest, error) {
	b := &maker{cfg: cfg, plan: p, o: o}
	b.defaults()
	b.check()
	if len(b.refused) > 0 {
		return nil, errors.Join(b.refused...)
	}
	objects := slices.Concat(b.rights(), b.memory(), []Object{b.configMap(), b.networkPolicy()}, b.clones(), b.workload())
	b.refuseTaken(objects)
	b.sayPath()
	if len(b.refused) > 0 {
		return nil, errors.Join(b.refused...)
	}
	return &Manifest{Objects: objects, Notes: b.notes}, nil
}

// workload is what runs perch, and what is scraped of it.
func (b *maker) workload() []Object {
	if b.o.Kind != KindDeployment {
		return []Object{b.cronJob()}
	}
	objects := []Object{b.deployment()}
	if b.o.Replicas > 1 {
		objects = append(objects, b.disruptionBudget())
	}
	if !b.o.NoPodMonitor {
		objects = append(objects, b.podMonitor())
	}
	return objects
}

func (b *maker) refuse(format string, args ...any) {
	b.refused = append(b.refused, fmt.Errorf(format, args...))
}

func (b *maker) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// meta names an object.
func (b *maker) meta(name string) meta.ObjectMeta {
	return meta.ObjectMeta{Name: name, Namespace: b.o.Namespace, Labels: b.labels()}
}

// labels are those of every object; they select perch's Pods.
func (b *maker) labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "perch", "app.kubernetes.io/instance": b.o.Name}
}

// stateName is the name of what belongs to the state: the Role, its binding, the
// claim.
func (b *maker) stateName() string { return b.o.Name + "-state" }

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
	// Isolated: what the workload's own policies do not allow may not leave. They hold
	// for perch, as clones or as they are, and alone may let out to the targets.
	Isolated bool
	// Taken are the objects of the input that are not this perch's own: none of its
	// may have their names.
	Taken   []Ref
	Sidecar *Sidecar // nil: none stands beside perch
	Copied  []Reason // what was copied, and why
	Left    []Reason // what could not be copied or must not be, and what to do about it
}

// Reason says of one thing why it was copied, or left.
type Reason struct{ What, Why string }

// Sidecar is the mesh's proxy beside perch.
type Sidecar struct {
	Mesh  string  // "Istio", "Linkerd"
	Ready string  // URL on loopback that answers 200 when it is ready
	Quit  string  // URL on loopback that ends it when it gets a POST; empty: it is native and is ended by the kubelet
	Ports []int32 // TCP, to its control plane and its peers: without them it never is ready
}
