package like

import (
	"strings"
	"testing"

	"perch.example/k8s"
	"perch.example/probes"
)

func namespace(marks, notes string) string {
	return "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {" + marks + "}, annotations: {" + notes + "}}}"
}

// TestWhoInjects: Istio's and Linkerd's rules, one line each.
func TestWhoInjects(t *testing.T) {
	for _, c := range []struct {
		name               string
		space, spaceNotes  string
		labels, podNotes   string
		hostNetwork        bool
		want, quit, reason string
	}{
		{name: "nothing", want: ""},
		{name: "the Namespace", space: "istio-injection: enabled", want: "Istio", quit: "15020/quitquitquit", reason: "istio-injection=enabled"},
		{name: "the Namespace, and the Pod says no", space: "istio-injection: enabled", labels: ", sidecar.istio.io/inject: \"false\"", want: ""},
		{name: "the Namespace, and the Pod's annotation says no", space: "istio-injection: enabled", podNotes: "sidecar.istio.io/inject: \"false\"", want: ""},
		{name: "the Namespace says no", space: "istio-injection: disabled", labels: ", sidecar.istio.io/inject: \"true\"", want: ""},
		{name: "the Namespace's revision", space: "istio.io/rev: canary", want: "Istio", quit: "quitquitquit", reason: "istio.io/rev=canary"},
		{name: "the Pod", labels: ", sidecar.istio.io/inject: \"true\"", want: "Istio", quit: "quitquitquit", reason: "its Pods have"},
		{name: "the Pod's revision", labels: ", istio.io/rev: canary", want: "Istio", quit: "quitquitquit"},
		{name: "on the host", space: "istio-injection: enabled", hostNetwork: true, want: ""},
		{name: "native by annotation", space: "istio-injection: enabled", podNotes: "sidecar.istio.io/nativeSidecar: \"true\"", want: "Istio"},
		{name: "Linkerd's Namespace", spaceNotes: "linkerd.io/inject: enabled", want: "Linkerd", quit: "4191/shutdown"},
		{name: "Linkerd's Pod", podNotes: "linkerd.io/inject: ingress", want: "Linkerd", quit: "4191/shutdown"},
		{name: "Linkerd, and the Pod says no", spaceNotes: "linkerd.io/inject: enabled", podNotes: "linkerd.io/inject: disabled", want: ""},
		{name: "Linkerd, native", spaceNotes: "linkerd.io/inject: enabled, config.beta.linkerd.io/proxy-enable-native-sidecar: \"true\"", want: "Linkerd"},
	} {
		spec := ""
		if c.hostNetwork {
			spec = ", hostNetwork: true"
		}
		text := app(c.labels, spec, namespace(c.space, c.spaceNotes))
		text = strings.Replace(text, "template: {metadata: {", "template: {metadata: {annotations: {"+c.podNotes+"}, ", 1)
		p := made(t, text)
		mesh, quit := "", ""
		if p.Sidecar != nil {
			mesh, quit = p.Sidecar.Mesh, p.Sidecar.Quit
		}
		if mesh != c.want || (quit == "") != (c.quit == "") || !strings.HasSuffix(quit, c.quit) {
			t.Errorf("%s: mesh %q, quit %q, want %q, %q", c.name, mesh, quit, c.want, c.quit)
		}
		if c.want != "" && !says(p.Copied, "sidecar of "+c.want, c.reason) {
			t.Errorf("%s: %v does not say why", c.name, p.Copied)
		}
		if shutdown := p.Annotations["config.linkerd.io/proxy-admin-shutdown"]; (shutdown == "enabled") != (c.want == "Linkerd" && c.quit != "") {
			t.Errorf("%s: proxy-admin-shutdown %q: Linkerd's proxy takes no quit without it", c.name, shutdown)
		}
	}
}

// TestInjectedPodsAreEvidence: a Pod of the workload shows what stands beside it,
// and as what.
func TestInjectedPodsAreEvidence(t *testing.T) {
	pod := func(labels, containers, more string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: shop, labels: {" + labels + "}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: checkout-1, uid: u, controller: true}]}, spec: {containers: [" +
			containers + "]" + more + "}}"
	}
	for name, c := range map[string]struct {
		pod  string
		want *k8s.Sidecar
		left string
	}{
		"classic":          {pod("app: checkout", "{name: app}, {name: istio-proxy}", ""), &k8s.Sidecar{Mesh: "Istio", Quit: "http://127.0.0.1:15020/quitquitquit"}, ""},
		"native":           {pod("app: checkout", "{name: app}", ", initContainers: [{name: linkerd-proxy, restartPolicy: Always}]"), &k8s.Sidecar{Mesh: "Linkerd"}, ""},
		"another's":        {pod("app: other", "{name: app}, {name: istio-proxy}", ""), nil, ""},
		"only an init":     {pod("app: checkout", "{name: app}", ", initContainers: [{name: istio-proxy}]"), nil, ""},
		"a mesh unheard":   {pod("app: checkout", "{name: app}, {name: kuma-sidecar}", ""), nil, "sidecar of Kuma"},
		"Kuma's Namespace": {namespace("kuma.io/sidecar-injection: enabled", ""), nil, "sidecar of Kuma"},
	} {
		p := made(t, app("", "", c.pod))
		if (p.Sidecar == nil) != (c.want == nil) || (c.want != nil && (p.Sidecar.Mesh != c.want.Mesh || p.Sidecar.Quit != c.want.Quit)) {
			t.Errorf("%s: %+v, want %+v", name, p.Sidecar, c.want)
		}
		if c.left != "" && !says(p.Left, c.left, "") {
			t.Errorf("%s: %v does not tell of %q", name, p.Left, c.left)
		}
	}
}

// TestASidecarInTheTemplate: as istioctl kube-inject leaves it.
func TestASidecarInTheTemplate(t *testing.T) {
	text := strings.Replace(app("", ""), "containers: [{name: app, image: a}]", "containers: [{name: istio-proxy, image: p}, {name: app, image: a}]", 1)
	text = strings.Replace(text, "template: {metadata: {", `template: {metadata: {annotations: {sidecar.istio.io/status: '{"version":"x"}'}, `, 1)
	p := made(t, text)
	if p.Sidecar == nil || !says(p.Left, "the sidecar of the template", "istioctl kube-inject") {
		t.Errorf("sidecar %+v, left %v", p.Sidecar, p.Left)
	}
	if len(p.Annotations) > 0 {
		t.Errorf("annotations %v: an injector passes by a Pod that says it is injected", p.Annotations)
	}
}

func TestViaMeshIsAskedFor(t *testing.T) {
	text := app("", "", namespace("istio.io/dataplane-mode: ambient", ""))
	p, err := New([]byte(text), Options{Name: "perch", Targets: []probes.Target{{Name: "said", Via: probes.ViaMesh}, {Name: "unsaid", Via: probes.ViaNone}}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Sidecar != nil || !says(p.Left, "ztunnel", "Write `via: mesh` for unsaid, so") {
		t.Errorf("sidecar %+v, left %v", p.Sidecar, p.Left)
	}
}
