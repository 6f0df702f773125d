//go:build peers

package peers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/probes"
)

// onCall is where Alertmanager sends what it would page with.
type onCall struct {
	mu    sync.Mutex
	pages []string // "firing 1", "resolved 1": the status and how many alerts
}

func (o *onCall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var page struct {
		Status string
		Alerts []any
	}
	if err := json.NewDecoder(r.Body).Decode(&page); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pages = append(o.pages, fmt.Sprintf("%s %d", page.Status, len(page.Alerts)))
}

func (o *onCall) got() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.pages)
}

// await waits until the on-call was paged so, and no more than so.
func (o *onCall) await(t *testing.T, want ...string) {
	t.Helper()
	for end := time.Now().Add(readyWithin); !slices.Equal(o.got(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("paged %q, want %q", o.got(), want)
		}
	}
}

const alertmanagerConfig = `
route: {receiver: oncall, group_by: [alertname, target], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers:
  - name: oncall
    webhook_configs: [{url: %q, send_resolved: true}]
`

// gettable is an alert as Alertmanager's API shows it.
type gettable struct {
	Labels      map[string]string
	Annotations map[string]string
	StartsAt    time.Time
	EndsAt      time.Time
	Status      struct{ State string }
}

func alertsOf(t *testing.T, base string) []gettable {
	t.Helper()
	var all []gettable
	if err := json.Unmarshal([]byte(get(t, base+"/api/v2/alerts")), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRealAlertmanager: an open incident is one alert over several runs, pages
// once, and resolves once.
func TestRealAlertmanager(t *testing.T) {
	t.Parallel()
	pages := &onCall{}
	receiver := httptest.NewServer(pages)
	t.Cleanup(receiver.Close)
	dir := t.TempDir()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t, nil, "127.0.0.1"))
	config := write(t, filepath.Join(dir, "alertmanager.yml"), fmt.Sprintf(alertmanagerConfig, receiver.URL))
	run(t, nil, "prometheus-alertmanager", exec.Command("prometheus-alertmanager", "--config.file="+config, "--web.listen-address="+address,
		"--storage.path="+filepath.Join(dir, "data"), "--cluster.listen-address="))
	base := "http://" + address
	awaitReady(t, base+"/-/ready")

	to := []alert.Destination{{Name: "alertmanager", Sender: alert.NewAlertmanager(probes.NewSecret(base), nil, nil)}}
	var m alert.Memory
	for range 4 {
		m = tellRun(t, m, probes.VerdictFail, to)
		time.Sleep(time.Second) // what would page twice gets the time for it: the group's interval
	}
	open := alertsOf(t, base)
	if len(open) != 1 || open[0].Status.State != "active" || open[0].Labels["target"] != "stock-api" || open[0].Labels["severity"] != "page" ||
		open[0].Annotations["summary"] == "" || time.Until(open[0].EndsAt) < 10*time.Minute || !open[0].StartsAt.Before(time.Now()) {
		t.Fatalf("Alertmanager has %+v, want one alert that lives longer than a run is away", open)
	}
	pages.await(t, "firing 1")
	for range 2 {
		m = tellRun(t, m, probes.VerdictPass, to)
	}
	pages.await(t, "firing 1", "resolved 1")
	if open := alertsOf(t, base); len(open) != 0 || len(m.Outbox) != 0 {
		t.Errorf("Alertmanager has %+v, and %d notices wait; want nothing", open, len(m.Outbox))
	}
}

// tellRun is what one run of perch decides and tells.
func tellRun(t *testing.T, m alert.Memory, v probes.Verdict, to []alert.Destination) alert.Memory {
	t.Helper()
	now := time.Now()
	outcome := probes.Outcome{
		Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Method: "GET", Started: now, Verdict: v, Reason: probes.ReasonOK,
		Notice: probes.NoticeInfo{Owner: "team-stock", Severity: "page", URL: "https://api.partner.example/v1/calendar"},
	}
	if v == probes.VerdictFail {
		outcome.Reason, outcome.Diagnosis, outcome.Family = probes.ReasonRefused, probes.DiagnosisUnreachable, probes.FamilyReachability
		outcome.Message = "the host refused the connection, twice"
	}
	one := probes.Run{Version: "1", Name: "shop", Vantage: "peers", RunID: "1", Started: now, Finished: now, Outcomes: []probes.Outcome{outcome}}
	o := alert.Options{FireAfter: 2, ResolveAfter: 2, Mode: alert.ModeNotify, Now: now, Destinations: []string{"alertmanager"}}
	m, _ = alert.Decide(m, one, o)
	m, all := alert.Deliver(t.Context(), alert.MarkSending(m), to, now)
	for _, d := range slices.Concat(all, alert.Refresh(t.Context(), to, alert.Ongoing(m, one, o))) {
		if len(d.Errors)+len(d.Problems) > 0 {
			t.Fatalf("telling %s: %v %v", d.Destination, d.Errors, d.Problems)
		}
	}
	return m
}
