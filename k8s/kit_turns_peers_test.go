//go:build peers

package k8s

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"

	"perch.example/internal/cluster"
	"perch.example/lab"
)

// overlap runs two Jobs at the same moment: they take turns, and nothing is
// counted twice or lost.
func (k *kit) overlap(t *testing.T, namespace string) {
	cron := k.cronJob(t, namespace)
	var both []*cluster.Container
	for _, name := range []string{"one", "two"} {
		k.cluster.Kubectl("create", "job", name, "-n", namespace, "--from=cronjob/"+cron.Name)
		both = append(both, k.node.Start(t, k.pods(t, namespace, "job-name="+name, 1)[0]))
	}
	var turns [][2]time.Time
	for _, c := range both {
		if code := c.Wait(t); code != 0 {
			t.Fatalf("status %d, want 0:\n%s%s", code, c.Stdout(), c.Stderr())
		}
		turns = append(turns, k.turn(t, namespace, c))
	}
	slices.SortFunc(turns, func(a, b [2]time.Time) int { return cmp.Compare(a[0].UnixNano(), b[0].UnixNano()) })
	if turns[0][1].After(turns[1][0]) {
		t.Errorf("the runs were at it at the same time: %v", turns)
	}
	k.addsUp(t, namespace, 3)
	if told := k.world.told(namespace); len(told) != 1 {
		t.Errorf("the three runs told %d times, want once: %+v", len(told), told)
	}
}

// turn is when a run's first and last requests came, found by their trace ids.
func (k *kit) turn(t *testing.T, namespace string, c *cluster.Container) [2]time.Time {
	t.Helper()
	var report struct {
		Outcomes []struct {
			Attempts []struct {
				TraceID string `json:"trace_id"`
			}
		}
	}
	if err := json.Unmarshal([]byte(c.Stdout()), &report); err != nil {
		t.Fatalf("reading the report: %v\n%s", err, c.Stdout())
	}
	var own []lab.Request
	for _, o := range report.Outcomes {
		for _, a := range o.Attempts {
			for _, r := range requests(k.world.stock, namespace) {
				if strings.Contains(r.Header.Get("Traceparent"), a.TraceID) {
					own = append(own, r)
				}
			}
		}
	}
	if len(own) < 3 {
		t.Fatalf("%d requests of the run are known by their trace, of %d", len(own), len(requests(k.world.stock, namespace)))
	}
	byTime := func(a, b lab.Request) int { return a.At.Compare(b.At) }
	return [2]time.Time{slices.MinFunc(own, byTime).At, slices.MaxFunc(own, byTime).At}
}

// held starts a run while somebody else has the Lease and keeps it. The function
// that it returns waits for the run's end, a minute later: with status 4, and
// nothing sent.
func (k *kit) held(t *testing.T) func(*testing.T) {
	t.Helper()
	const namespace, holder = "held", "somebody-else"
	k.namespace(namespace)
	k.cluster.Apply(fromManifest(KindCronJob)(k, t, namespace))
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	go func() {
		for every := time.Tick(2 * time.Second); ; {
			// One renewal that is lost does no harm: a Lease is left alone for 30 s.
			_ = k.cluster.Ask("PATCH", "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases/perch-state", fmt.Sprintf(
				`{"spec": {"holderIdentity": %q, "leaseDurationSeconds": 30, "renewTime": %q}}`, holder, time.Now().UTC().Format(rfc3339Micro)), nil)
			select {
			case <-ended:
				return
			case <-every:
			}
		}
	}()
	cluster.Await(t, within, "the Lease to be held", func() error {
		var lease coordination.Lease
		if err := k.cluster.Ask("GET", "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases/perch-state", "", &lease); err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil {
			return errors.New("nobody holds it")
		}
		return nil
	})
	job := k.scheduled(t, namespace)
	waits := k.node.Start(t, k.pods(t, namespace, "job-name="+job.Name, 1)[0])
	return func(t *testing.T) {
		if code := waits.Wait(t); code != 4 || !strings.Contains(waits.Stderr()+waits.Stdout(), holder) {
			t.Errorf("status %d, want 4 and the holder's name:\n%s%s", code, waits.Stdout(), waits.Stderr())
		}
		if n := len(requests(k.world.stock, namespace)); n > 0 {
			t.Errorf("%d requests were sent while another had the Lease", n)
		}
	}
}

// rfc3339Micro is how Kubernetes writes a MicroTime.
const rfc3339Micro = "2006-01-02T15:04:05.000000Z07:00"
