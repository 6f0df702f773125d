package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/internal/kubefake"
	"perch.example/trace/tracetest"
)

// exporter is a replica's way to a receiver that all replicas share.
type exporter struct {
	http.RoundTripper // to anything else
	to                *tracetest.Receiver
	sent              atomic.Int64
}

func (e *exporter) RoundTrip(q *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(q.URL.Host, "otlp") {
		return e.RoundTripper.RoundTrip(q)
	}
	e.sent.Add(1)
	w := httptest.NewRecorder()
	e.to.ServeHTTP(w, q)
	return w.Result(), nil
}

// TestAStandbyExportsNothing, and after a change of the leader what was received is what
// both did: nothing twice, and nothing lost.
func TestAStandbyExportsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, to := kubefake.New("shop", "perch-state"), &tracetest.Receiver{}
		begin := func(name string) (*replica, *exporter) {
			e := &exporter{to: to}
			return join(t, fake, name, func(s *service) {
				s.cfg.OTLP = config.OTLP{Endpoint: "http://otlp.example", Traces: true, Metrics: true, Timeout: time.Second}
				e.RoundTripper, s.sys.web = s.sys.web, e
			}), e
		}
		a, fromA := begin("pod-a")
		time.Sleep(5 * time.Second)
		b, fromB := begin("pod-b")
		time.Sleep(5 * time.Minute)
		if fromA.sent.Load() == 0 || fromB.sent.Load() > 0 {
			t.Errorf("the leader exported %d times, who stands by %d times", fromA.sent.Load(), fromB.sent.Load())
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		before := fromA.sent.Load()
		time.Sleep(3 * time.Minute)
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		if fromA.sent.Load() > before || fromB.sent.Load() == 0 {
			t.Errorf("after the change the old leader exported %d times, the new one %d times", fromA.sent.Load()-before, fromB.sent.Load())
		}
		got, asked := 0.0, len(a.asked("/often"))+len(b.asked("/often"))
		for _, p := range to.Points() {
			if p.Name == "perch_outcomes_total" && p.Labels["probe"] == "often" && p.Labels["verdict"] == "pass" {
				got += p.Value
			}
		}
		if got != float64(asked) || asked < 80 {
			t.Errorf("the API was asked %d times, and %v outcomes were received", asked, got)
		}
		if wrong := to.Wrong(); len(wrong) > 0 {
			t.Error(wrong)
		}
	})
}
