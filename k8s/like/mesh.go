package like

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perch.example/k8s"
	"perch.example/probes"
)

// The meshes that inject. Perch knows how to wait for the first two sidecars, and how
// to end them.
const (
	istio   = "Istio"
	linkerd = "Linkerd"
	kuma    = "Kuma"
)

// meshOf says of which mesh a container is the proxy; empty: it is none.
func meshOf(c corev1.Container) string {
	return map[string]string{
		"istio-proxy": istio, "linkerd-proxy": linkerd, "kuma-sidecar": kuma, "consul-dataplane": "Consul",
	}[c.Name]
}

// found is what the input tells of the sidecar beside the workload.
type found struct {
	mesh   string
	native bool
	how    string // by what it is known
}

// mesh says whether a sidecar will stand beside perch, and what follows from it:
// what to wait for, what to end, and where the connections that perch holds end.
func (b *builder) mesh() error {
	f := b.sidecar()
	if f.mesh == "" {
		b.withoutSidecar()
		return nil
	}
	switch f.mesh {
	case istio:
		b.path.Sidecar = &k8s.Sidecar{
			Mesh: istio, Ready: "http://127.0.0.1:15021/healthz/ready", Quit: "http://127.0.0.1:15020/quitquitquit",
			Ports: []int32{15008, 15012}, // its peers' tunnel, istiod
		}
	case linkerd:
		b.path.Sidecar = &k8s.Sidecar{
			Mesh: linkerd, Ready: "http://127.0.0.1:4191/ready", Quit: "http://127.0.0.1:4191/shutdown",
			Ports: []int32{4143, 8080, 8086, 8090}, // its peers, identity, destination, policy
		}
	default:
		b.left("sidecar of "+f.mesh, "perch does not know how to wait for it and to end it: %s. Put perch's Pod into that mesh by hand, or a Job of it may never end", f.how)
	}
	if b.path.Sidecar != nil {
		b.sidecarEnds(f)
	}
	b.heldConnections("sidecar", f.how)
	return nil
}

// sidecarEnds sees to it that a Job ends: a native sidecar does with it, a
// classic one is told to.
func (b *builder) sidecarEnds(f found) {
	s := b.path.Sidecar
	if f.native {
		s.Quit = ""
		b.copied("sidecar of "+f.mesh, "%s; it is native, so it ends with perch", f.how)
		return
	}
	if f.mesh == linkerd {
		b.path.Annotations["config.linkerd.io/proxy-admin-shutdown"] = "enabled"
	}
	b.copied("sidecar of "+f.mesh, "%s; perch waits until it is ready, and ends it when all is saved, so that a Job ends", f.how)
}

// heldConnections says where they end, and to whom else that has to be said.
func (b *builder) heldConnections(where, how string) {
	why := "the connections that perch holds end at the %s (%s), as the workload's do: the %s holds others to the API, whose idle timeout perch cannot see, and may retry by itself. "
	if names := undeclared(b.o.Targets); names != "" {
		why += "Write `via: mesh` for " + names + ", so that reports say so. "
	}
	why += "To see the API's own idle timeout, run a second perch without the mesh, where it lets traffic past it"
	b.left("the path behind the "+where, why, where, how, where)
}

// undeclared names the targets whose config does not say that a mesh is there.
func undeclared(targets []probes.Target) string {
	var names []string
	for _, t := range targets {
		if t.Via != probes.ViaMesh {
			names = append(names, t.Name)
		}
	}
	return inWords(names)
}

// sidecar finds out whether one is injected: the workload's own Pods show it, else
// the labels and annotations that an injector goes by.
func (b *builder) sidecar() found {
	if b.w.template.Spec.HostNetwork {
		return found{} // no injector touches such a Pod
	}
	if f := b.inTemplate(); f.mesh != "" {
		return f
	}
	if f := b.inPods(); f.mesh != "" {
		return f
	}
	space, _ := namespaceOf(b.in, b.app.namespace)
	var marks map[string]string
	if space.Unstructured != nil {
		marks = space.GetAnnotations()
	}
	annotations := b.w.template.Annotations
	if how := istioInjects(b.app, annotations); how != "" {
		return found{mesh: istio, how: how, native: annotations["sidecar.istio.io/nativeSidecar"] == "true"}
	}
	if how := linkerdInjects(annotations, marks); how != "" {
		return found{mesh: linkerd, how: how, native: linkerdNative(annotations) || linkerdNative(marks)}
	}
	if how := kumaInjects(b.app, annotations, marks); how != "" {
		return found{mesh: kuma, how: how}
	}
	return found{}
}

// inTemplate looks into the workload's own template, where `istioctl kube-inject`
// or a person put a proxy. A Pod has what an injector gave it.
func (b *builder) inTemplate() found {
	spec := b.w.template.Spec
	f := proxyIn(spec)
	if f.mesh == "" {
		return f
	}
	if b.w.object.is("", "Pod") {
		f.how = b.w.object.String() + " has it"
		return f
	}
	f.how = "it stands in the workload's own template"
	tool := map[string]string{istio: "istioctl kube-inject -f -", linkerd: "linkerd inject --manual -"}[f.mesh]
	if tool != "" {
		b.left("the sidecar of the template", "a proxy that was written into the template is not copied: pipe this manifest through `%s`, as was done with the workload", tool)
	}
	return f
}

// inPods looks at Pods of the workload that the input holds.
func (b *builder) inPods() found {
	for _, o := range b.in {
		if !o.is("", "Pod") || !o.in(b.app.namespace) || !b.ownPod(o) {
			continue
		}
		var spec corev1.PodSpec
		if o.decode(&spec, "spec") != nil {
			continue
		}
		if f := proxyIn(spec); f.mesh != "" {
			f.how = o.String() + " of the workload has it"
			return f
		}
	}
	return found{}
}

// ownPod reports whether a Pod is one of the workload's.
func (b *builder) ownPod(o object) bool {
	owner := meta.GetControllerOf(o)
	if owner == nil {
		return false
	}
	if b.w.selector != nil && !b.w.selector.Empty() {
		return b.w.selector.Matches(podLabels(o))
	}
	return owner.Name == b.w.object.GetName() || strings.HasPrefix(owner.Name, b.w.object.GetName()+"-")
}

// proxyIn finds a mesh's proxy among containers; as an init container it is
// native.
func proxyIn(spec corev1.PodSpec) found {
	for _, c := range spec.InitContainers {
		if mesh := meshOf(c); mesh != "" && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			return found{mesh: mesh, native: true}
		}
	}
	if i := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return meshOf(c) != "" }); i >= 0 {
		return found{mesh: meshOf(spec.Containers[i])}
	}
	return found{}
}

// withoutSidecar is for Istio without one, and for an input that does not tell.
func (b *builder) withoutSidecar() {
	const mode = "istio.io/dataplane-mode"
	if of := b.app.labels[mode]; of == "ambient" || (of == "" && b.app.spaceLabels[mode] == "ambient") {
		b.heldConnections("node's ztunnel", "Istio's ambient mode")
		return
	}
	if _, seen := namespaceOf(b.in, b.app.namespace); !seen && !b.w.template.Spec.HostNetwork {
		b.left("mesh", "the input does not hold the Namespace, so whether a sidecar is injected there cannot be seen; collect it too")
	}
}
