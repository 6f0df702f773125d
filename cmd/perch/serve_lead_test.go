package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"perch.example/internal/kubefake"
	"perch.example/state"
)

// elected is a config whose state is in a ConfigMap, with a probe that is due often.
func elected() string {
	return strings.NewReplacer(`{file: "${DIR}/state"}`, "{configmap: perch-state}", "every: 1m", "every: 5s").Replace(serving)
}

// replica is a station that is one of several.
type replica struct {
	*station
	cut atomic.Bool // from the API server: what it calls hangs
	way http.RoundTripper
}

// RoundTrip leads to the API server, unless the replica is cut off.
func (r *replica) RoundTrip(q *http.Request) (*http.Response, error) {
	if !r.cut.Load() {
		return r.way.RoundTrip(q)
	}
	<-q.Context().Done()
	return nil, q.Context().Err()
}

// join begins one more replica, which change may prepare.
func join(t *testing.T, fake *kubefake.Server, name string, change ...func(*service)) *replica {
	t.Helper()
	r := &replica{station: newStation(t, elected()), way: fake.Transport()}
	r.service.sys.cluster = func(object string) (state.ConfigMapConfig, error) {
		return state.ConfigMapConfig{Name: object, Namespace: "shop", Identity: name, Rest: &rest.Config{Host: "http://fake", Transport: r}}, nil
	}
	if err := r.service.elects(); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(r.service)
	}
	r.begin()
	return r
}

// lastAsked is when a replica last sent anything.
func (r *replica) lastAsked() (last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, hits := range r.hits {
		for _, at := range hits {
			if at.After(last) {
				last = at
			}
		}
	}
	return last
}

// two begins two replicas, of which the first leads.
func two(t *testing.T, test func(t *testing.T, fake *kubefake.Server, a, b *replica)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := kubefake.New("shop", "perch-state")
		a := join(t, fake, "pod-a")
		time.Sleep(5 * time.Second)
		b := join(t, fake, "pod-b")
		time.Sleep(5 * time.Minute)
		a.wants("/readyz", 200, "ok")
		b.wants("/readyz", 200, "standing by: pod-a leads")
		if b.allAsked() > 0 {
			t.Fatalf("the standby sent %d requests", b.allAsked())
		}
		test(t, fake, a, b)
	})
}

func TestOneReplicaProbesAndTheOtherStandsBy(t *testing.T) {
	t.Parallel()
	two(t, func(t *testing.T, _ *kubefake.Server, a, b *replica) {
		a.wants("/metrics", 200, `perch_leader{perch="shop",vantage="test"} 1`)
		b.wants("/metrics", 200, `perch_leader{perch="shop",vantage="test"} 0`)
		b.wants("/metrics", 200, `perch_config_last_reload_successful{perch="shop",vantage="test"} 1`)
		b.wants("/healthz", 200, "ok")
		if _, text := b.get("/metrics"); strings.Contains(text, "perch_outcomes_total") || strings.Contains(text, "perch_runs_total") {
			t.Error("the standby shows what the leader counts")
		}
		_, page := b.get("/")
		want(t, "the standby's page", page, "standing by")

		told := time.Now()
		if err := a.stop(); err != nil {
			t.Errorf("the leader ended with %v", err)
		}
		time.Sleep(3 * time.Second)
		b.wants("/readyz", 200, "ok")
		b.wants("/metrics", 200, `perch_leader{perch="shop",vantage="test"} 1`)
		time.Sleep(5 * time.Second)
		if b.allAsked() == 0 || a.lastAsked().After(told) {
			t.Errorf("the new leader sent %d requests, the old one its last %s after it was told to stop", b.allAsked(), a.lastAsked().Sub(told))
		}
		_, text := b.get("/metrics")
		if want := `perch_outcomes_total{perch="shop",probe="often",target="api",vantage="test",verdict="pass"} 6`; !strings.Contains(text, want) {
			t.Errorf("its counters do not go on: no %s…", want)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A leader that is cut off from the API server sends nothing any more before another
// one may lead, and ends.
func TestALeaderThatIsCutOffSendsNothing(t *testing.T) {
	t.Parallel()
	two(t, func(t *testing.T, _ *kubefake.Server, a, b *replica) {
		a.cut.Store(true)
		began := time.Now()
		time.Sleep(time.Minute)
		select {
		case err := <-a.result:
			if codeOf(err) != exitOwn || !strings.Contains(err.Error(), "does not surely lead any more") {
				t.Errorf("it ended with %v, %d", err, codeOf(err))
			}
		default:
			t.Fatal("it goes on")
		}
		if last := a.lastAsked().Sub(began); last > 10*time.Second {
			t.Errorf("it sent something %s after it was cut off", last)
		}
		first := b.asked("/often")[0].Sub(began)
		if first < 12*time.Second || first > 22*time.Second {
			t.Errorf("the other one sent its first request after %s", first)
		}
		b.wants("/readyz", 200, "ok")
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

// While the API server is away nobody probes; whoever stands by goes on to do so.
func TestReplicasWithoutTheirAPIServer(t *testing.T) {
	two(t, func(t *testing.T, fake *kubefake.Server, a, b *replica) {
		fake.SetFault(func(kubefake.Call) kubefake.Fault { return kubefake.Fault{Drop: true} })
		time.Sleep(5 * time.Minute)
		if err := <-a.result; codeOf(err) != exitOwn {
			t.Errorf("the leader ended with %v", err)
		}
		b.wants("/readyz", 503, "who leads cannot be seen")
		b.wants("/healthz", 200, "ok")
		if b.allAsked() > 0 {
			t.Error("it sent something, and nobody knows who leads")
		}
		fake.SetFault(nil)
		time.Sleep(30 * time.Second)
		b.wants("/readyz", 200, "ok")
		if b.allAsked() == 0 {
			t.Error("nobody leads")
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStandbyStopsAtOnce(t *testing.T) {
	two(t, func(t *testing.T, _ *kubefake.Server, a, b *replica) {
		if err := b.stop(); err != nil {
			t.Errorf("the standby ended with %v", err)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Nothing but a Lease elects: on a volume each replica would wait for the other, and
// without a state each would probe.
func TestElectNeedsAConfigMap(t *testing.T) {
	for _, where := range []string{`state: {file: /tmp/x}`, ""} {
		path := configFile(t, "http://192.0.2.1", strings.Replace(remembering, "state: STATE", where, 1))
		r := perch(t.Context(), nil, "serve", "--elect", "--config", path)
		if r.code != exitUsage || !strings.Contains(r.stderr, "write state: {configmap: NAME}") {
			t.Errorf("%q: exit status %d, %s", where, r.code, r.stderr)
		}
	}
}
