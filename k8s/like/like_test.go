package like

import (
	"fmt"
	"strings"
	"testing"

	"perch.example/k8s"
)

// app is a List with a Deployment, whose template's labels and spec are given, a
// Service, and more items.
func app(podLabels, podSpec string, more ...string) string {
	text := fmt.Sprintf(`{apiVersion: v1, kind: List, items: [
{apiVersion: apps/v1, kind: Deployment, metadata: {name: checkout, namespace: shop}, spec: {selector: {matchLabels: {app: checkout}},
  template: {metadata: {labels: {app: checkout%s}}, spec: {containers: [{name: app, image: a}]%s}}}},
{apiVersion: v1, kind: Service, metadata: {name: checkout, namespace: shop}, spec: {selector: {app: checkout}}}`, podLabels, podSpec)
	for _, m := range more {
		text += ",\n" + m
	}
	return text + "\n]}"
}

func made(t *testing.T, text string) *k8s.Path {
	t.Helper()
	p, err := New([]byte(text), Options{Name: "perch"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// says reports whether one of the reasons is about that and says this.
func says(all []k8s.Reason, what, why string) bool {
	for _, r := range all {
		if strings.Contains(r.What, what) && strings.Contains(r.Why, why) {
			return true
		}
	}
	return false
}

func TestWhatIsRefused(t *testing.T) {
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: %s}, spec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: a}]}}}}`
	service := "\n---\n{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, spec: {selector: {app: x}}}"
	one := fmt.Sprintf(deployment, "one", "shop")
	for name, c := range map[string]struct{ input, workload, want string }{
		"nothing":              {"", "", "no object in it"},
		"no workload":          {service, "", "holds no Deployment"},
		"no Service":           {one, "", "kubectl get -n shop deploy,"},
		"several":              {one + "\n---\n" + fmt.Sprintf(deployment, "two", "shop") + service, "", "Deployment shop/one, Deployment shop/two; choose with --workload, as --workload deployment/one"},
		"no such":              {one + service, "deploy/three", "--workload deploy/three: no such workload"},
		"two namespaces":       {one + "\n---\n" + fmt.Sprintf(deployment, "one", "other") + service, "deploy/one", "give the objects of one namespace"},
		"a name for a shell":   {fmt.Sprintf(deployment, `"x;reboot"`, "shop") + service, "", "metadata.name"},
		"a namespace for one":  {fmt.Sprintf(deployment, "one", `"$(reboot)"`) + service, "", "metadata.namespace"},
		"no containers":        {`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}` + service, "", "spec.containers: want the workload's containers"},
		"Windows":              {app("", ", nodeSelector: {kubernetes.io/os: windows}"), "", "Windows"},
		"a Rollout of nothing": {`{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r, namespace: shop}, spec: {workloadRef: {kind: Deployment, name: gone}}}` + service, "", "takes its Pods from Deployment shop/gone"},
		"a budget of all":      {app("", "", `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all, namespace: shop}, spec: {selector: {}, minAvailable: 1}}`), "", "PodDisruptionBudget shop/all would select perch"},
		"a monitor of all":     {app("", "", `{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: all, namespace: m}, spec: {selector: {}, namespaceSelector: {any: true}}}`), "", "PodMonitor m/all would select perch"},
		"a Service of perch's": {app("", "", `{apiVersion: v1, kind: Service, metadata: {name: odd, namespace: shop}, spec: {selector: {app.kubernetes.io/instance: perch}}}`), "", "choose another --name"},
		"alone on its node": {app("", ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}, topologyKey: kubernetes.io/hostname}]}}"), "",
			"its anti-affinity would keep its own Pods off perch's node"},
		"a spread over all": {app("", ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]"), "", "its topology spread would count perch"},
		"too much":          {strings.Repeat(" ", MaxInput+1), "", "want at most 16"},
	} {
		_, err := New([]byte(c.input), Options{Name: "perch", Workload: c.workload})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "reboot") && !strings.Contains(c.workload, "reboot")) && strings.Contains(err.Error(), "kubectl") {
			t.Errorf("%s: the input's words stand in a command line: %v", name, err)
		}
	}
	if _, err := New([]byte(one), Options{Name: "perch", NoServices: true}); err != nil {
		t.Errorf("a namespace without Services: %v", err)
	}
}

// TestErrorsSayWhere: the document, its line, the item, the object and the field.
func TestErrorsSayWhere(t *testing.T) {
	good := "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
	for input, wants := range map[string][]string{
		good + "---\n" + "a: [1,\n  2\n":          {"document 2 (from line 4)", "line 6"},
		good + "---\n" + "just text\n":            {"document 2 (from line 4)", "want an object"},
		"{{ if .Values.app }}\nkind: Pod\n":       {"document 1 (from line 1)", "a key is no text, as in a template that is not rendered; is it what kubectl get"},
		"text: [\n\tand none\n":                   {"yaml: line 2: did not find", "is it what kubectl get"},
		"{kind: List, items: [{apiVersion: v1}]}": {"items[0]", "kind: want a text"},
		"{kind: List, apiVersion: v1, items: [" + `{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: [1]}}}` + "]}": {"items[0]", "Pod p", "metadata", "labels"},
		`{"apiVersion":"v1","kind":"Pod","metadata":{}}`:                                                                      {"document 1", "metadata.name"},
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}} {"kind":`:                                                   {"document 2", "unexpected EOF"},
		`{"apiVersion":"v1","kind":"Pod","metadata":"x"}`:                                                                     {"metadata", "cannot unmarshal string"},
		"{kind: List, items: [{kind: List, items: [{kind: List, items: [{kind: List, items: []}]}]}]}":                        {"more than 3 deep"},
		app("", ", hostNetwork: 7"): {"Deployment shop/checkout", "spec.template", "hostNetwork"},
		app("", "", `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: net, namespace: shop}, spec: {podSelector: {matchExpressions: [{key: a, operator: Near}]}}}`): {
			"items[2]", "NetworkPolicy shop/net", "spec.podSelector", "Near"},
		app("", "", `{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: net, namespace: shop}, spec: {endpointSelector: [1], egress: []}}`): {"CiliumNetworkPolicy shop/net", "selector"},
		app("", "", `{apiVersion: v1, kind: Service, metadata: {name: net, namespace: shop}, spec: 7}`):                                                         {"Service shop/net", "spec.selector"},
	} {
		_, err := New([]byte(input), Options{Name: "perch"})
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s\n%v, want %q", input, err, want)
			}
		}
	}
}

// TestTheKindsOfInput: a List, documents, JSON, JSON after JSON and typed lists
// say the same.
func TestTheKindsOfInput(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop"},"spec":{"containers":[{"name":"a"}]}}`
	service := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"shop"},"spec":{"selector":{"a":"b"}}}`
	for name, input := range map[string]string{
		"a List":              `{"apiVersion":"v1","kind":"List","items":[` + pod + "," + service + "]}",
		"documents":           "# kubectl\n---\n" + pod + "\n---\n" + service + "\n---\n",
		"documents, no first": pod + "\n--- # more\n" + service,
		"JSON after JSON":     pod + service,
		"with Windows' ends":  pod + "\r\n---\r\n" + service,
		"typed lists": `{"apiVersion":"v1","kind":"PodList","items":[` + strings.Replace(pod, `"apiVersion":"v1","kind":"Pod",`, "", 1) + `]}` +
			"\n---\n" + `{"apiVersion":"v1","kind":"ServiceList","items":[` + strings.Replace(service, `"apiVersion":"v1","kind":"Service",`, "", 1) + `]}`,
		"with a mark": "\xef\xbb\xbf" + pod + service,
	} {
		p, err := New([]byte(input), Options{Name: "perch"})
		if err != nil || p.Workload != "Pod shop/p" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatTheInputSaysStaysOneLine: it goes to a terminal and into comments.
func TestWhatTheInputSaysStaysOneLine(t *testing.T) {
	text := app("", ", priorityClassName: \"a\\r\\nb\\u2028c\\u0085d\\x1b[31m\"")
	for _, r := range made(t, text).Left {
		if strings.ContainsAny(r.What+r.Why, "\r\n\x1b\u2028\u0085") {
			t.Errorf("%q", r)
		}
	}
}
