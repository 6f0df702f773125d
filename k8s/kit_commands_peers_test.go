//go:build peers

package k8s

import (
	"encoding/json"
	"strings"
	"testing"

	"perch.example/internal/cluster"
)

// instead makes a Job of the namespace's CronJob whose container differs in one
// key, as docs/deploy.md shows it, and runs its Pod.
func (k *kit) instead(t *testing.T, namespace, name, key string, value any) (*cluster.Container, int) {
	t.Helper()
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/template/spec/containers/0/" + key, "value": value}})
	if err != nil {
		t.Fatal(err)
	}
	made := k.cluster.Kubectl("create", "job", name, "-n", namespace, "--from=cronjob/"+k.cronJob(t, namespace).Name, "--dry-run=client", "-o", "yaml")
	made, err = k.cluster.Try(made, "patch", "--local", "-f", "-", "-o", "yaml", "--type=json", "-p", string(patch))
	if err != nil {
		t.Fatal(err)
	}
	k.cluster.Apply(made, "-n", namespace)
	return k.node.Run(t, k.pods(t, namespace, "job-name="+name, 1)[0])
}

// command is instead with other arguments.
func (k *kit) command(t *testing.T, namespace, name string, args ...string) (*cluster.Container, int) {
	t.Helper()
	return k.instead(t, namespace, name, "args", append(args, "--config="+flag(t, "--config")))
}

// otherCommands runs those that the docs show as Jobs.
func (k *kit) otherCommands(t *testing.T, namespace string) {
	t.Helper()
	c, code := k.command(t, namespace, "path", "path", "--output=json")
	// The server has copied the zone from the node onto the Pod.
	var path struct {
		Place struct{ Node, Zone, Namespace string }
	}
	if err := json.Unmarshal([]byte(c.Stdout()), &path); err != nil || code != 0 || path.Place.Node != k.node.Name || path.Place.Zone != k.node.Zone || path.Place.Namespace != namespace {
		t.Errorf("perch path: status %d, want place %s in %s (%v):\n%s%s", code, k.node.Name, k.node.Zone, err, c.Stdout(), c.Stderr())
	}
	before := len(k.world.slack.Messages())
	c, code = k.command(t, namespace, "test", "alert", "test")
	if after := len(k.world.slack.Messages()); code != 0 || after != before+1 {
		t.Errorf("perch alert test: status %d, %d messages more:\n%s%s", code, after-before, c.Stdout(), c.Stderr())
	}
	c, code = k.command(t, namespace, "mute", "silence", "add", "stock", "--for=2h", "--reason=maintenance")
	if section := string(k.states(t, namespace)[0].Sections["silences"]); code != 0 || !strings.Contains(section, "maintenance") {
		t.Errorf("perch silence add: status %d, the state has %s:\n%s%s", code, section, c.Stdout(), c.Stderr())
	}
}

// underPolicy: what the platform team mounts, no config can overrule. Nothing is
// sent to a host that it leaves out.
func (k *kit) underPolicy(t *testing.T, namespace string) {
	t.Helper()
	k.cluster.Do("POST", "/api/v1/namespaces/"+namespace+"/configmaps",
		`{"metadata": {"name": "perch-policy"}, "data": {"policy.yaml": "version: 1\nhosts: [api.partner.example]\n"}}`, nil)
	before := len(k.world.stock.Requests())
	c, code := k.command(t, namespace, "refused", "run")
	if code != 2 || !strings.Contains(c.Stderr(), "policy.yaml") {
		t.Errorf("status %d, want 2 and the policy's name:\n%s%s", code, c.Stdout(), c.Stderr())
	}
	if sent := len(k.world.stock.Requests()) - before; sent > 0 {
		t.Errorf("%d requests to a host that the policy leaves out", sent)
	}
}

// outOfMemory: a Pod's memory limit is a container's here, too, so that the other
// runs were within theirs.
func (k *kit) outOfMemory(t *testing.T, namespace string) {
	t.Helper()
	const killed = 128 + 9
	few := map[string]map[string]string{"requests": {"memory": "5Mi"}, "limits": {"memory": "5Mi"}}
	if c, code := k.instead(t, namespace, "small", "resources", few); code != killed {
		t.Errorf("with 5 MiB: status %d, want %d, by the kernel:\n%s%s", code, killed, c.Stdout(), c.Stderr())
	}
}
