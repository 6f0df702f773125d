package like

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"perch.example/config"
	"perch.example/internal/restricted"
	"perch.example/k8s"
	"perch.example/plan"
)

const perchConfig = `
version: 1
name: shop
vantage: prod
targets:
  - {name: stock-api, url: "https://api.partner.example:8443/v1", probes: [{name: get, kind: http, path: /, every: 10m}]}
slack: {webhook: {from: {env: SLACK_WEBHOOK_URL}}}
state: {configmap: perch-state}
`

// manifestOn makes the manifest of a config on a path.
func manifestOn(t *testing.T, name string, p *k8s.Path, kind k8s.Kind) *k8s.Manifest {
	t.Helper()
	file := config.File{Name: "perch.yaml", Data: []byte(strings.Replace(perchConfig, "perch-state", name+"-state", 1))}
	cfg, err := config.Parse(config.Options{}, file)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := plan.New(cfg, plan.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := k8s.New(cfg, steps, k8s.Options{Name: name, Kind: kind, Path: p, Files: []config.File{file}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// templateIn is the Pod that a manifest runs.
func templateIn(t *testing.T, m *k8s.Manifest) corev1.PodTemplateSpec {
	t.Helper()
	for _, o := range m.Objects {
		switch o := o.(type) {
		case *batchv1.CronJob:
			return o.Spec.JobTemplate.Spec.Template
		case *appsv1.Deployment:
			return o.Spec.Template
		}
	}
	t.Fatal("the manifest runs nothing")
	return corev1.PodTemplateSpec{}
}

// TestTheWholeManifest: for each case and kind nothing of the input selects the
// Pod that the manifest runs; its volumes fit; and Pod Security's level restricted
// lets it in, unless the workload itself asks for what that forbids.
func TestTheWholeManifest(t *testing.T) {
	for _, file := range inputs(t) {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		raw := mustRead(t, file)
		all, err := read(raw)
		if err != nil {
			t.Fatal(err)
		}
		judges := attracting(t, all)
		if len(judges) == 0 {
			t.Errorf("%s: nothing in it attracts: it proves little", name)
		}
		for _, kind := range []k8s.Kind{k8s.KindCronJob, k8s.KindDeployment} {
			p, err := New(raw, optionsOf(t, raw))
			if err != nil {
				t.Fatal(err)
			}
			m := manifestOn(t, "perch", p, kind)
			pod := templateIn(t, m)
			if who := selecting(judges, p.Namespace, pod.Labels); len(who) > 0 {
				t.Errorf("%s, %s: %v select %v", name, kind, who, pod.Labels)
			}
			fits(t, name, pod.Spec)
			if bad := forbidden(t, pod); (len(bad) > 0) != (name == "daemonset-hostnetwork") {
				t.Errorf("%s: restricted forbids %v", name, bad)
			}
			for _, clone := range p.Policies {
				if !slices.ContainsFunc(m.Objects, func(o k8s.Object) bool { return o.GetName() == clone.GetName() }) {
					t.Errorf("%s: the manifest lacks %s", name, clone.GetName())
				}
			}
			if p.Sidecar != nil && !slices.Contains(pod.Spec.Containers[0].Args, "--wait-for="+p.Sidecar.Ready) {
				t.Errorf("%s: perch does not wait for its sidecar: %v", name, pod.Spec.Containers[0].Args)
			}
		}
	}
}

// fits fails where names of volumes clash, or a mount has no volume.
func fits(t *testing.T, name string, spec corev1.PodSpec) {
	t.Helper()
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		if volumes[v.Name] {
			t.Errorf("%s: two volumes %s", name, v.Name)
		}
		volumes[v.Name] = true
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: %s mounts %s, which is no volume", name, c.Name, m.Name)
			}
		}
	}
}

func forbidden(t *testing.T, pod corev1.PodTemplateSpec) []string {
	t.Helper()
	bad, err := restricted.Forbidden(pod)
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

// TestPerchGetsThroughNoMoreThanTheWorkload: where policies hold the workload
// back, perch's own does not open the target's port; where a sidecar stands beside
// it, its control plane's are open.
func TestPerchGetsThroughNoMoreThanTheWorkload(t *testing.T) {
	for file, c := range map[string]struct{ target, mesh bool }{
		"deployment.in.yaml": {true, false}, "networkpolicies.in.yaml": {false, false}, "cilium.in.yaml": {false, false},
		"istio-namespace.in.yaml": {true, true},
	} {
		raw := mustRead(t, filepath.Join("testdata", file))
		p, err := New(raw, optionsOf(t, raw))
		if err != nil {
			t.Fatal(err)
		}
		open := map[int32]bool{}
		for _, o := range manifestOn(t, "perch", p, k8s.KindCronJob).Objects {
			own, is := o.(*networking.NetworkPolicy)
			if !is {
				continue
			}
			for _, rule := range own.Spec.Egress {
				for _, port := range rule.Ports {
					open[port.Port.IntVal] = true
				}
			}
		}
		if open[8443] != c.target || open[15012] != c.mesh {
			t.Errorf("%s: perch's own policy opens %v", file, open)
		}
	}
}
