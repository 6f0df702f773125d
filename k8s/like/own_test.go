package like

import (
	"slices"
	"strings"
	"testing"

	"perch.example/config"
	"perch.example/k8s"
	"perch.example/plan"
)

// TestNamesOfTheInputAreNotTaken: a clone that would be called as another of the
// input gets a number, and a manifest with such a name is refused.
func TestNamesOfTheInputAreNotTaken(t *testing.T) {
	named := func(name, selector string) string {
		return strings.Replace(of(netpol, selector), "name: net,", "name: "+name+",", 1)
	}
	const own = "{matchLabels: {app: checkout}}"
	p := made(t, app("", "", named("egress", own), named("perch-egress", "{matchLabels: {app: other}}")))
	if len(p.Policies) != 1 || p.Policies[0].GetName() != "perch-egress-2" {
		t.Errorf("clones %v, want perch-egress-2", p.Policies)
	}
	two := `{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a, namespace: shop}, specs: [
		{endpointSelector: {matchLabels: {app: checkout}}, egress: [{}]}, {endpointSelector: {matchLabels: {app: checkout}}, egress: [{}]}]}`
	p = made(t, app("", "", two, strings.Replace(two, "name: a,", "name: a-2,", 1)))
	var names []string
	for _, c := range p.Policies {
		names = append(names, c.GetName())
	}
	if want := []string{"perch-a", "perch-a-2", "perch-a-2-2", "perch-a-2-2-2"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("clones %v, want %v", names, want)
	}

	input := app("", "", named("checkout", own), `{apiVersion: v1, kind: ConfigMap, metadata: {name: checkout, namespace: shop}}`,
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: checkout, namespace: shop}}`)
	if err := manifestError(t, input, "checkout"); err == nil || !strings.Contains(err.Error(), "ServiceAccount checkout, ConfigMap checkout, NetworkPolicy checkout") {
		t.Errorf("%v, want a refusal that names all three", err)
	}
	if err := manifestError(t, input, "perch"); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"without namespaces":     strings.ReplaceAll(input, ", namespace: shop", ""),
		"the workload's is open": strings.Replace(input, ", namespace: shop", "", 1),
		"the other's are open":   strings.ReplaceAll(strings.Replace(input, ", namespace: shop", ", namespace: there", 1), ", namespace: shop", ""),
	} {
		if err := manifestError(t, text, "checkout"); err == nil || !strings.Contains(err.Error(), "ConfigMap checkout, ") {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

// TestNamesThatTheWorkloadRefersTo are its own, though the input does not hold
// them: perch would mount the Secret whole, and overwrite the others.
func TestNamesThatTheWorkloadRefersTo(t *testing.T) {
	for what, c := range map[string]struct{ main, spec string }{
		"Secret mine":         {"envFrom: [{secretRef: {name: mine}}]", ""},
		"Secret mine, at key": {"env: [{name: A, valueFrom: {secretKeyRef: {name: mine, key: k}}}]", ""},
		"Secret mine, as a":   {"args: [a]", ", volumes: [{name: v, secret: {secretName: mine}}]"},
		"Secret mine, among":  {"args: [a]", ", volumes: [{name: v, projected: {sources: [{secret: {name: mine}}]}}]"},
		"ConfigMap mine":      {"envFrom: [{configMapRef: {name: mine}}]", ""},
		"ServiceAccount mine": {"args: [a]", ", serviceAccountName: mine"},
	} {
		want, _, _ := strings.Cut(what, ",")
		text := inMain(c.main, c.spec)
		if err := manifestError(t, text, "mine"); err == nil || !strings.Contains(err.Error(), "would read: "+want+"; choose another") {
			t.Errorf("%s: %v", what, err)
		}
		if err := manifestError(t, text, "perch"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	made := app("", "", "{apiVersion: v1, kind: Secret, metadata: {name: perch, namespace: shop}}")
	if err := manifestError(t, made, "perch"); err != nil {
		t.Errorf("the Secret that was made for perch: %v", err)
	}
}

// manifestError makes the manifest of a perch on the path of an input.
func manifestError(t *testing.T, input, name string) error {
	t.Helper()
	p, err := New([]byte(input), Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	file := config.File{Name: "perch.yaml", Data: []byte(strings.Replace(perchConfig, "perch-state", name+"-state", 1))}
	cfg, err := config.Parse(config.Options{}, file)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := plan.New(cfg, plan.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = k8s.New(cfg, steps, k8s.Options{Name: name, Path: p, Files: []config.File{file}})
	return err
}

// TestATrackersLabel: Argo CD writes its application's name over the label
// instance. This perch's own objects are known by name and selector then, another
// one's are not taken for them.
func TestATrackersLabel(t *testing.T) {
	const marks = "labels: {app.kubernetes.io/name: perch, app.kubernetes.io/instance: shop-app}"
	object := func(version, kind, name, more string) string {
		return "{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name + ", namespace: shop, " + marks + "}" + more + "}"
	}
	run := func(name string) string {
		set := "{app.kubernetes.io/name: perch, app.kubernetes.io/instance: " + name + "}"
		return object("apps/v1", "Deployment", name, ", spec: {selector: {matchLabels: "+set+"}, template: {metadata: {labels: "+set+"}, spec: {containers: [{name: perch}]}}}")
	}
	policy := func(name, selector string) string {
		return object("networking.k8s.io/v1", "NetworkPolicy", name, ", spec: {podSelector: {matchLabels: {"+selector+"}}, policyTypes: [Egress]}")
	}
	own := []string{
		run("perch"), policy("perch", "app.kubernetes.io/name: perch, app.kubernetes.io/instance: perch"), policy("perch-egress", "perch.example/path: perch"),
		object("v1", "ConfigMap", "perch", ""), object("v1", "ServiceAccount", "perch", ""), object("rbac.authorization.k8s.io/v1", "Role", "perch-state", ""),
	}
	theirs := []string{run("perch-2"), policy("perch-2-egress", "perch.example/path: perch-2"), strings.Replace(of(netpol, "{matchLabels: {app: checkout}}"), "name: net,", "name: egress,", 1)}
	input := app("", "", append(own, theirs...)...)
	p := made(t, input)
	if len(p.Policies) != 1 || p.Policies[0].GetName() != "perch-egress" {
		t.Errorf("clones %v: the second is called as the first", p.Policies)
	}
	if says(p.Left, "", "holds for perch and not for the workload") || !says(p.Left, "objects of perch", "NetworkPolicy shop/perch-egress") || says(p.Left, "objects of perch", "perch-2") {
		t.Errorf("left %v", p.Left)
	}
	if err := manifestError(t, input, "perch"); err != nil {
		t.Error(err)
	}
	if err := manifestError(t, input, "perch-2"); err != nil {
		t.Errorf("perch-2: %v", err)
	}
}
