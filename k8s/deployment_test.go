package k8s

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// served is the Deployment of a config, and its container.
func served(t *testing.T, text string, o Options) (*Manifest, appsv1.DeploymentSpec, corev1.Container) {
	t.Helper()
	o.Kind = KindDeployment
	m := made(t, text, o)
	checked(t, written(t, m))
	spec := found[*appsv1.Deployment](t, m).Spec
	return m, spec, spec.Template.Spec.Containers[0]
}

// TestOnePodAtATime: two would share a budget and wait for each other's state.
func TestOnePodAtATime(t *testing.T) {
	_, spec, main := served(t, small, Options{})
	if *spec.Replicas != 1 || spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Errorf("%d replicas, strategy %s", *spec.Replicas, spec.Strategy.Type)
	}
	for key, value := range spec.Selector.MatchLabels {
		if spec.Template.Labels[key] != value {
			t.Errorf("the selector's %s=%s is not the Pod's", key, value)
		}
	}
	if strings.Join(main.Args, " ") != "serve --config=/etc/perch/config" || main.StartupProbe != nil {
		t.Errorf("arguments %v, startup probe %v", main.Args, main.StartupProbe)
	}
}

func TestThePortIsTheConfigs(t *testing.T) {
	for listen, want := range map[string]int32{"": 9877, `metrics: {listen: ":81"}`: 81, `metrics: {listen: "[::]:82"}`: 82, `metrics: {listen: "0.0.0.0:83"}`: 83} {
		m, _, main := served(t, small+listen+"\n", Options{})
		port := main.Ports[0]
		if port.ContainerPort != want || port.Name != main.LivenessProbe.HTTPGet.Port.StrVal || port.Name != main.ReadinessProbe.HTTPGet.Port.StrVal ||
			port.Name != found[*networking.NetworkPolicy](t, m).Spec.Ingress[0].Ports[0].Port.StrVal {
			t.Errorf("%s: port %+v, want %d", listen, port, want)
		}
	}
}

// TestASidecarIsWaitedFor: before it is ready perch answers nothing, and the
// kubelet must not end it for that.
func TestASidecarIsWaitedFor(t *testing.T) {
	_, _, main := served(t, small, Options{Path: shared()})
	if p := main.StartupProbe; p == nil || p.FailureThreshold*p.PeriodSeconds < 60 {
		t.Errorf("the startup probe is %+v", p)
	}
	if !strings.Contains(strings.Join(main.Args, " "), "--wait-for=http://127.0.0.1:15021") {
		t.Errorf("arguments %v", main.Args)
	}
}

func TestWhatServeTakesOtherwiseIsSaid(t *testing.T) {
	text := strings.Replace(small, "path: /}", "path: /, every: always}", 1) + "metrics: {push: {url: \"http://pushgateway:9091\"}}\n"
	m, _, _ := served(t, text, Options{NoPodMonitor: true})
	notes := strings.Join(m.Notes, "\n")
	for _, want := range []string{"every: always is each 5m in perch serve", "perch serve is scraped: it neither pushes"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if got := out(t, m); got != "any 443 6443" {
		t.Errorf("let out: %s; nothing is pushed", got)
	}
	if last := m.Objects[len(m.Objects)-1]; last.GetObjectKind().GroupVersionKind().Kind != "Deployment" {
		t.Errorf("the last object is %T", last)
	}
}

// TestMemoryFollowsTheSeries, which are most of what a run keeps.
func TestMemoryFollowsTheSeries(t *testing.T) {
	for series, want := range map[int]string{0: "64Mi", 20_000: "64Mi", 48_020: "64Mi", 69_920: "80Mi", 209_720: "144Mi", 240_020: "160Mi"} {
		cfg, p, _ := parsed(t, small, "")
		p.Series = series
		m, err := New(cfg, p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		main := found[*batchv1.CronJob](t, m).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
		limit, request := main.Resources.Limits.Memory(), main.Resources.Requests.Memory()
		if limit.String() != want || limit.Cmp(*request) != 0 {
			t.Errorf("%d series: limit %s, request %s, want %s", series, limit, request, want)
		}
		for _, e := range main.Env {
			if e.Name == "GOMEMLIMIT" && e.Value != map[string]string{"64Mi": "56MiB", "80Mi": "70MiB", "144Mi": "126MiB", "160Mi": "140MiB"}[want] {
				t.Errorf("%d series: GOMEMLIMIT %s below %s", series, e.Value, want)
			}
		}
	}
}

// TestTheMonitorHasTheOperatorsLabel, and is then not spoken of.
func TestTheMonitorHasTheOperatorsLabel(t *testing.T) {
	for want, labels := range map[string]map[string]string{"": nil, "prometheus": {"release": "prometheus"}} {
		m := made(t, small, Options{Kind: KindDeployment, MonitorLabels: labels})
		monitor := found[*unstructured.Unstructured](t, m)
		if got := monitor.GetLabels(); got["release"] != want || got["app.kubernetes.io/name"] != "perch" {
			t.Errorf("labels %v, want release=%q beside perch's own", got, want)
		}
		if said := strings.Contains(strings.Join(m.Notes, "\n"), "--monitor-label release=NAME"); said != (want == "") {
			t.Errorf("release=%q: the label is spoken of: %t", want, said)
		}
	}
}

// TestMemoryOfADeployment: the numbers that were measured leave a quarter free, and
// none of its limits is below that of a run.
func TestMemoryOfADeployment(t *testing.T) {
	for _, c := range []struct {
		series, open int
		resident     int64 // MiB, measured
		want         string
	}{
		{0, 0, 0, "64Mi"},
		{2_480, 40, 34, "64Mi"},
		{12_320, 200, 40, "64Mi"},
		{24_620, 400, 48, "80Mi"},
		{49_220, 800, 62, "96Mi"},
		{53_820, 800, 74, "112Mi"},
		{240_020, 3_000, 0, "288Mi"},
	} {
		cfg, p, _ := parsed(t, small, "")
		p.Series, p.PeakOpen = c.series, c.open
		m, err := New(cfg, p, Options{Kind: KindDeployment})
		if err != nil {
			t.Fatal(err)
		}
		limit := found[*appsv1.Deployment](t, m).Spec.Template.Spec.Containers[0].Resources.Limits.Memory()
		if limit.String() != c.want || limit.Value()*3/4 < c.resident<<20 {
			t.Errorf("%d series, %d connections: limit %s, want %s, and a quarter more than %d MiB", c.series, c.open, limit, c.want, c.resident)
		}
	}
}
