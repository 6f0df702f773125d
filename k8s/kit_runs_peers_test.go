//go:build peers

package k8s

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"perch.example/internal/cluster"
	"perch.example/state"
)

// runs runs a Job's Pods, all at once, and looks at everything that they did.
func (k *kit) runs(t *testing.T, job batchv1.Job, pods []corev1.Pod) {
	t.Helper()
	namespace := job.Namespace
	var running []*cluster.Container
	for _, pod := range pods {
		running = append(running, k.node.Start(t, pod))
	}
	for _, c := range running {
		if code := c.Wait(t); code != 0 {
			t.Fatalf("status %d, want 0:\n%s%s", code, c.Stdout(), c.Stderr())
		}
		for _, secret := range []string{stockToken, slackPath} {
			if strings.Contains(c.Stdout()+c.Stderr(), secret) {
				t.Errorf("a secret stands in the log:\n%s%s", c.Stdout(), c.Stderr())
			}
		}
	}
	cluster.Await(t, within, "the Job to be complete", func() error {
		if err := k.cluster.Ask("GET", "/apis/batch/v1/namespaces/"+namespace+"/jobs/"+job.Name, "", &job); err != nil {
			return err
		}
		if !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("conditions %+v", job.Status.Conditions)
		}
		return nil
	})
	k.addsUp(t, namespace, 1)
	for _, r := range requests(k.world.stock, namespace) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+stockToken {
			t.Errorf("a request carries Authorization %q, want the Secret's token", got)
		}
	}
	if told := k.world.told(namespace); len(told) != 1 || !strings.Contains(told[0].Title(), "stock") {
		t.Errorf("Slack has %d messages, want one, of stock: %+v", len(told), told)
	}
	if remarks := k.world.slack.Remarks(); len(remarks) > 0 {
		t.Errorf("Slack remarks: %q", remarks)
	}
}

// addsUp holds what is remembered and what was pushed to what the APIs have
// received, after a number of runs of each shard.
func (k *kit) addsUp(t *testing.T, namespace string, runs int) {
	t.Helper()
	// A run's second hold meets a connection that the server has ended: that request
	// is counted as sent, and never arrives.
	sent := map[string]int{
		"stock": len(requests(k.world.stock, namespace)) + runs,
		"price": len(requests(k.world.price, namespace)),
	}
	remembered := map[string]int{}
	for _, document := range k.states(t, namespace) {
		for _, day := range []map[string]state.Daily{document.Daily, document.DailyBefore} {
			for target, daily := range day {
				remembered[target] += daily.Requests
			}
		}
	}
	if !maps.Equal(remembered, sent) || sent["price"] == 0 {
		t.Errorf("the state counts %v requests, the APIs %v", remembered, sent)
	}
	if pushed := k.world.pushed(t, namespace, "perch_requests_total", "target"); !maps.Equal(pushed, sent) {
		t.Errorf("the gateway counts %v requests, the APIs %v", pushed, sent)
	}
	counted := k.world.pushed(t, namespace, "perch_runs_total", "shard")
	for shard, n := range counted {
		if n != runs {
			t.Errorf("the gateway counts %d runs of shard %q, want %d", n, shard, runs)
		}
	}
	if len(counted) == 0 {
		t.Error("the gateway counts no run")
	}
}

// leases are the names of the namespace's, which are those of its states, too.
func (k *kit) leases(namespace string) []string {
	var all coordination.LeaseList
	k.cluster.Do("GET", "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases", "", &all)
	var names []string
	for _, lease := range all.Items {
		names = append(names, lease.Name)
	}
	return names
}

// states are the documents of the namespace's state objects, or of its file.
func (k *kit) states(t *testing.T, namespace string) []state.Document {
	t.Helper()
	var claims corev1.PersistentVolumeClaimList
	k.cluster.Do("GET", "/api/v1/namespaces/"+namespace+"/persistentvolumeclaims", "", &claims)
	var all []state.Document
	for _, claim := range claims.Items {
		document, err := state.ReadFile(filepath.Join(k.node.Claim(namespace, claim.Name), "state"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, document)
	}
	for _, name := range k.leases(namespace) {
		config, err := state.Cluster(name, func(name string) (string, bool) { return k.cluster.Config, name == "KUBECONFIG" })
		if err != nil {
			t.Fatal(err)
		}
		config.Namespace = namespace
		document, err := state.ReadConfigMap(context.Background(), config)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, document)
	}
	return all
}

// appliedAgain: neither way of applying takes the state away.
func (k *kit) appliedAgain(t *testing.T, namespace, yaml string) {
	t.Helper()
	before := k.states(t, namespace)[0]
	k.cluster.Apply(yaml, "-n", namespace, "--server-side", "--force-conflicts") // the schedule is this test's
	k.cluster.Apply(yaml, "-n", namespace)
	if after := k.states(t, namespace)[0]; before.Empty() || before.RequestsToday("stock", time.Now()) != after.RequestsToday("stock", time.Now()) {
		t.Errorf("the state was %+v, and after the manifest was applied again %+v", before, after)
	}
}
