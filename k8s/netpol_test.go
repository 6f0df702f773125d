package k8s

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// out is what a manifest's NetworkPolicy lets out, beside DNS: "any: 80 443".
func out(t *testing.T, m *Manifest) string {
	t.Helper()
	var said []string
	for _, rule := range found[*networking.NetworkPolicy](t, m).Spec.Egress[1:] {
		to := "any"
		if len(rule.To) > 0 {
			to = rule.To[0].IPBlock.CIDR
		}
		for _, port := range rule.Ports {
			to += fmt.Sprintf(" %d", port.Port.IntValue())
		}
		said = append(said, to)
	}
	return strings.Join(said, ", ")
}

// calls is a config with one target at a URL and more settings.
func calls(url, more string) string {
	return "version: 1\nname: shop\nvantage: prod\ntargets:\n  - {name: a, url: \"" + url + "\", probes: [{name: get, kind: http, path: /, every: 10m}]}\n" + more
}

func TestWhatIsLetOut(t *testing.T) {
	const kept = "state: {configmap: perch-state}\n"
	for _, c := range []struct{ url, more, want string }{
		{"https://a.example", "", "any 443"},
		{"http://a.example", "", "any 80"},
		{"http://a.example:8080/v1", "", "any 8080"},
		{"https://a.example:8443", kept, "any 443 6443 8443"},
		{"https://192.0.2.7", "", "192.0.2.7/32 443"},
		{"https://192.0.2.7:8443", "slack: {webhook: {from: {env: HOOK}}}\n", "any 443, 192.0.2.7/32 8443"},
		{"http://[2001:db8::1]:81", "", "2001:db8::1/128 81"},
		{"http://[::ffff:192.0.2.7]", "", "192.0.2.7/32 80"},
		{"http://localhost:8080", "", ""},
		{"http://127.0.0.2:8080", "", ""},
		{"http://[::1]:8080", "", ""},
		{"http://a.example", "metrics: {push: {url: \"http://pushgateway:9091\"}}\nalertmanager: {url: \"http://192.0.2.9:9093\"}\nwebhook: {url: \"https://hooks.example/x\"}\n" + kept,
			"any 80 443 6443 9091, 192.0.2.9/32 9093"},
		{"https://192.0.2.7", "otlp: {endpoint: \"http://192.0.2.8:4318\"}\n", "192.0.2.7/32 443, 192.0.2.8/32 4318"},
		{"https://a.example", "defaults: {proxy: \"http://proxy.example:3128\"}\n", "any 3128"},
		{"https://a.example", "defaults: {proxy: \"socks5h://192.0.2.9\"}\n", "192.0.2.9/32 1080"},
		{"https://a.example", "defaults: {unix_socket: /run/api.sock}\n", ""},
		{"http://a.example", "slack: {bot_token: {from: {env: TOKEN}}, channel: \"#a\"}\n", "any 80 443"},
	} {
		m := made(t, calls(c.url, c.more), Options{})
		checked(t, written(t, m))
		if got := out(t, m); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.url, c.more, got, c.want)
		}
	}
}

// TestDNSIsLetOut, in each manifest, by both protocols.
func TestDNSIsLetOut(t *testing.T) {
	rule := found[*networking.NetworkPolicy](t, made(t, calls("http://127.0.0.1", ""), Options{})).Spec.Egress[0]
	var ports []string
	for _, p := range rule.Ports {
		ports = append(ports, fmt.Sprintf("%s/%d", *p.Protocol, p.Port.IntValue()))
	}
	if got := strings.Join(ports, " "); got != "UDP/53 TCP/53 UDP/5353 TCP/5353" || len(rule.To) > 0 {
		t.Errorf("%s to %v", got, rule.To)
	}
}

// TestWhatIsLetIn: nothing comes to a Job's Pod, and only its metrics' readers to a
// Deployment's.
func TestWhatIsLetIn(t *testing.T) {
	for kind, want := range map[Kind]int{KindCronJob: 0, KindDeployment: 1} {
		policy := found[*networking.NetworkPolicy](t, made(t, small, Options{Kind: kind}))
		in := policy.Spec.Ingress
		if len(in) != want || len(policy.Spec.PolicyTypes) != 2 {
			t.Fatalf("%s: %d rules of ingress, want %d; types %v", kind, len(in), want, policy.Spec.PolicyTypes)
		}
		if want == 1 && (len(in[0].Ports) != 1 || in[0].Ports[0].Port.StrVal != "metrics") {
			t.Errorf("%s: %+v", kind, in)
		}
	}
}

func TestPortsBehindAServiceAreSaid(t *testing.T) {
	for address, want := range map[string]bool{
		"http://pushgateway:9091": true, "http://pushgateway.monitoring:9091": true, "https://stock.shop.svc": true,
		"https://stock.shop.svc.cluster.local:8443/v1": true, "https://api.example": false, "https://svc.example.org": false,
		"http://192.0.2.1": false, "http://[2001:db8::1]": false, "http://www.api.example": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := inCluster(u); got != want {
			t.Errorf("%s: %t, want %t", address, got, want)
		}
	}
}

// TestPoliciesOfTheApplicationDecide: what isolates the application is not undone
// for perch by the policy that lets it out for itself.
func TestPoliciesOfTheApplicationDecide(t *testing.T) {
	clone := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "metadata": map[string]any{"name": "perch-app"}}}
	path := &Path{
		Workload: "Deployment shop/checkout", Namespace: "shop", Isolated: true, Policies: []*unstructured.Unstructured{clone},
		Pod: corev1.PodSpec{Containers: []corev1.Container{{Env: []corev1.EnvVar{
			{Name: "HTTPS_PROXY", Value: "http://proxy.example:3128"}, {Name: "http_proxy", Value: "192.0.2.1:3129"}, {Name: "NO_PROXY", Value: "http://x:1"},
		}}}},
		Sidecar: &Sidecar{Mesh: "Istio", Ready: "http://127.0.0.1:15021/healthz/ready", Ports: []int32{15012}},
	}
	for address, want := range map[string]struct {
		out  string
		said bool
	}{
		"https://api.example:8443": {"any 443 3128 6443 15012, 192.0.2.1/32 3129", false},
		"https://api.example":      {"any 443 3128 6443 15012, 192.0.2.1/32 3129", true},
	} {
		m := made(t, calls(address, "state: {configmap: perch-state}\n"), Options{Path: path})
		if got := out(t, m); got != want.out {
			t.Errorf("%s: %q, want %q", address, got, want.out)
		}
		const note = "target a: perch's own NetworkPolicy opens port 443 to any address, for the API server (state.configmap). Where the application"
		if said := strings.Contains(strings.Join(m.Notes, "\n"), note); said != want.said {
			t.Errorf("%s: said %t, want %t: %q", address, said, want.said, m.Notes)
		}
		if last := m.Objects[len(m.Objects)-2]; last.GetName() != "perch-app" {
			t.Errorf("before the CronJob comes %s, want the clone", last.GetName())
		}
	}
	m := made(t, calls("https://api.example", "state: {configmap: perch-state}\n"), Options{Path: path, APIServer: []string{"10.0.0.1", "10.2.3.4/28"}})
	if got := out(t, m); got != "any 3128 15012, 10.0.0.1/32 443 6443, 10.2.3.0/28 443 6443, 192.0.2.1/32 3129" || strings.Contains(strings.Join(m.Notes, "\n"), "perch's own NetworkPolicy opens") {
		t.Errorf("with the API server's addresses: %q, %q", got, m.Notes)
	}
	path.Isolated = false
	if got := out(t, made(t, calls("https://api.example:8443", ""), Options{Path: path})); got != "any 3128 8443 15012, 192.0.2.1/32 3129" {
		t.Errorf("not isolated: %q", got)
	}
}

// TestWhatOpensTheWayIsSaid: for several targets in one note, and the remedy only
// where it is one.
func TestWhatOpensTheWayIsSaid(t *testing.T) {
	const targets = `
version: 1
name: shop
vantage: prod
targets:
  - {name: a, url: "https://a.example", probes: [{name: get, kind: http, path: /, every: 10m}]}
  - {name: b, url: "https://b.example", probes: [{name: get, kind: http, path: /, every: 10m}]}
  - {name: c, url: "https://10.2.3.4", probes: [{name: get, kind: http, path: /, every: 10m}]}
  - {name: d, url: "https://10.9.9.9", probes: [{name: get, kind: http, path: /, every: 10m}]}
`
	const kept, slack = "state: {configmap: perch-state}\n", "slack: {webhook: {from: {env: SLACK_WEBHOOK_URL}}}\n"
	for _, c := range []struct {
		more, says string
		server     []string
	}{
		{more: kept + slack, says: "target a, b, c, d: perch's own NetworkPolicy opens port 443 to any address, for slack, the API server (state.configmap). Where"},
		{more: slack, says: "target a, b, c, d: perch's own NetworkPolicy opens port 443 to any address, for slack. Where"},
		{more: kept, server: []string{"10.2.0.0/16"}, says: "target c: perch's own NetworkPolicy opens port 443 to 10.2.0.0/16, for the API server (state.configmap). Where"},
	} {
		notes := strings.Join(made(t, targets+c.more, Options{Path: &Path{Workload: "Deployment shop/checkout", Isolated: true}, APIServer: c.server}).Notes, "\n")
		if strings.Count(notes, "perch's own NetworkPolicy opens") != 1 || !strings.Contains(notes, c.says) {
			t.Errorf("%q, want once %q", notes, c.says)
		}
		if remedy := strings.Contains(notes, "--api-server ADDRESS"); remedy != (strings.Contains(c.more, "configmap") && c.server == nil) {
			t.Errorf("%s: the remedy is named: %t", c.more, remedy)
		}
	}
}
