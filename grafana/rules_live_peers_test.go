//go:build peers

package grafana

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"perch.example/lab"
)

// faster is how much faster the rules' clocks go in this test: an hour is 15 s,
// and a group is evaluated four times a second.
const faster = 240

// cronEvery is the schedule that this test's CronJobs are said to have. Their
// runs follow each other faster, so that a busy machine delays none for three of
// them.
const cronEvery = 5 * time.Second

// TestHealthRulesFire: own-health rules fire on the faults they are for, and none
// on a perch that works. Real runs push to a Pushgateway, a real Prometheus loads the
// rules; what kube-state-metrics would say of the runs' Jobs is said by the test.
func TestHealthRulesFire(t *testing.T) {
	t.Parallel()
	w := newRulesWorld(t)
	p := w.prometheus()
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, c := range w.cases() {
		running.Go(func() { w.repeat(c, stop) })
	}
	t.Cleanup(func() { close(stop); running.Wait() })

	want := map[string]bool{
		"PerchJobsFailing perch-readonly": true, "PerchNoCompletedRun perch-readonly": true, // no state, no run
		"PerchNoCompletedRun perch-stopped": true, // nothing runs it
		"PerchRunsIncomplete short":         true, // ended from outside, as by an eviction
		"PerchNoticesPending mute":          true, // nobody takes notices
		"PerchPushTrouble textless":         true, // no folder for the text file
		"PerchStateTrouble forgetful":       true, // a part of the state cannot be read
		"PerchScrapeFailing " + w.dead:      true, // nobody listens
	}
	var last []firing
	await(t, "every alert to fire", func() error {
		var err error
		if last, err = p.firing(); err != nil {
			return err
		}
		missing := maps.Clone(want)
		for _, f := range last {
			delete(missing, f.name())
		}
		if len(missing) > 0 {
			return fmt.Errorf("these do not: %v", slices.Sorted(maps.Keys(missing)))
		}
		return nil
	}, func() { t.Logf("these fire: %v", last) })
	for _, f := range last {
		f.checkText(t)
		if f.healthy(w) {
			t.Errorf("%s fires on a perch that works: %s", f.name(), f.Annotations["summary"])
		}
	}
}

// rulesWorld is what this test's perches meet, and what the cluster says of
// their Jobs.
type rulesWorld struct {
	*world
	gateway, dead, serving string
	began                  time.Time

	mu        sync.Mutex
	succeeded map[string]time.Time // when the last Job of a CronJob did
	jobs      []job
}

type job struct {
	name, cronJob string
	started       time.Time
	failed        bool
}

func newRulesWorld(t *testing.T) *rulesWorld {
	t.Helper()
	w := &rulesWorld{world: newWorld(t), gateway: freePort(t), dead: freePort(t), serving: freePort(t), began: time.Now(),
		succeeded: map[string]time.Time{"perch-stopped": time.Now(), "perch-suspended": time.Now()}}
	launch(t, "prometheus-pushgateway", "--web.listen-address="+w.gateway, "--persistence.file=")
	await(t, "the Pushgateway", answers(w.gateway))
	return w
}

func (w *rulesWorld) prometheus() server {
	w.t.Helper()
	raw, err := HealthRules(RuleOptions{Faster: faster}).encode("the test")
	if err != nil {
		w.t.Fatal(err)
	}
	rules := filepath.Join(w.dir, "rules.yaml")
	if err := os.WriteFile(rules, raw, 0o600); err != nil {
		w.t.Fatal(err)
	}
	cluster := httptest.NewServer(w)
	w.t.Cleanup(cluster.Close)
	launch(w.t, w.perch, "serve", "--config", w.write("served", "", `listen: "`+w.serving+`"`, ""))
	return startServer(w.t, fmt.Sprintf("global: {scrape_interval: 250ms, scrape_timeout: 250ms}\nrule_files: [%q]\nscrape_configs:\n"+
		"  - {job_name: gateway, honor_labels: true, static_configs: [{targets: [%q]}]}\n"+
		"  - {job_name: kube-state-metrics, honor_labels: true, static_configs: [{targets: [%q]}]}\n"+
		"  - {job_name: perch, static_configs: [{targets: [%q, %q]}]}\n",
		rules, w.gateway, strings.TrimPrefix(cluster.URL, "http://"), w.dead, w.serving), w.t.TempDir())
}

const rulesConfig = `
version: 1
name: %[1]s
vantage: rules
metrics: {%[2]s}
state: {file: %[3]q}
alerts: {fire_after: 1, settle: none}
%[4]s
defaults: {every: 4s, timeouts: {response: 10s}}
targets:
  - name: stock-api
    url: %[5]s
    rate_limit: 200/s
    share: 100%%
    daily_limit: 1000000
    probes:
      - {name: get, kind: http, path: ""}
      - {name: held, kind: idle, path: "", holds: [400ms]}
`

// write makes the config of one perch. An empty url is that of an API that works,
// an empty destination one that takes notices.
func (w *rulesWorld) write(name, url, metrics, destination string) string {
	w.t.Helper()
	if url == "" {
		url = w.lab("healthy", lab.Options{}).URL()
	}
	if destination == "" {
		destination = fmt.Sprintf("alertmanager: {url: %q}", w.listens)
	}
	path := filepath.Join(w.dir, name+".yaml")
	text := fmt.Sprintf(rulesConfig, name, metrics, filepath.Join(w.dir, name, "state"), destination, url)
	if err := errors.Join(os.Mkdir(filepath.Join(w.dir, name), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// repeated is a CronJob: its name is perch- and the config's.
type repeated struct {
	name, config string
	before       func()            // each run
	began        func(*os.Process) // each run
}

func (w *rulesWorld) cases() []repeated {
	push := fmt.Sprintf(`push: {url: "http://%s"}`, w.gateway)
	ordinary := w.write("ordinary", "", push, "")
	readonly := w.write("readonly", "", push, "")
	mountReadonly(w.t, filepath.Join(w.dir, "readonly"))
	mute := w.write("mute", w.lab("status", lab.Options{}).URL(), push, fmt.Sprintf("webhook: {url: %q}", "http://"+w.dead))
	textless := w.write("textless", "", push+fmt.Sprintf(", textfile: %q", filepath.Join(w.dir, "nowhere", "perch.prom")), "")
	// A run is ended while it holds its connection, as by an eviction.
	var victim atomic.Pointer[os.Process]
	cut := w.lab("healthy", lab.Options{OnRequest: func(lab.Request) {
		if p := victim.Load(); p != nil {
			_ = p.Signal(syscall.SIGTERM)
		}
	}})
	return []repeated{
		{name: "ordinary", config: ordinary},
		{name: "readonly", config: readonly},
		{name: "short", config: w.write("short", cut.URL(), push, ""), began: victim.Store},
		{name: "mute", config: mute},
		{name: "textless", config: textless},
		{name: "forgetful", config: w.write("forgetful", "", push, ""), before: func() { spoil(w.t, filepath.Join(w.dir, "forgetful", "state")) }},
	}
}

// mountReadonly puts a file system on a folder that nobody writes to, root
// neither.
func mountReadonly(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "ro,size=64k", "perch-rules", dir).CombinedOutput(); err != nil {
		t.Fatalf("mounting: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("unmounting: %v\n%s", err, out)
		}
	})
}

// spoil makes one part of a state unreadable.
func spoil(t *testing.T, path string) {
	if err := rewrite(path, func(doc map[string]any) error {
		sections, ok := doc["sections"].(map[string]any)
		if !ok {
			return errors.New("it has no sections")
		}
		sections["alert"] = "spoilt"
		return nil
	}); err != nil && !errors.Is(err, os.ErrNotExist) { // the first run has none
		t.Errorf("spoiling the state: %v", err)
	}
}

// rewrite changes a state file: gzip around JSON.
func rewrite(path string, change func(map[string]any) error) error {
	packed, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := errors.Join(json.NewDecoder(unzip).Decode(&doc), unzip.Close()); err != nil {
		return err
	}
	if err := change(doc); err != nil {
		return err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(zip).Encode(doc), zip.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// repeat runs Jobs one after the other, and writes down how each ended.
func (w *rulesWorld) repeat(c repeated, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(500 * time.Millisecond):
		}
		if c.before != nil {
			c.before()
		}
		j := job{name: fmt.Sprintf("perch-%s-%d", c.name, n), cronJob: "perch-" + c.name, started: time.Now()}
		var out bytes.Buffer
		cmd := exec.Command(w.perch, "run", "--all", "--fail-on", "never", "--config", c.config)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Start()
		if err == nil {
			if c.began != nil {
				c.began(cmd.Process)
			}
			err = cmd.Wait()
		}
		if j.failed = err != nil; j.failed && c.name == "ordinary" {
			w.t.Errorf("a run that nothing is wrong with: %v\n%s", err, out.String())
		}
		w.mu.Lock()
		w.jobs = append(w.jobs, j)
		if !j.failed {
			w.succeeded[j.cronJob] = time.Now()
		}
		w.mu.Unlock()
	}
}

// ServeHTTP says of the Jobs what kube-state-metrics would.
func (w *rulesWorld) ServeHTTP(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	scheduled := time.Now().Truncate(cronEvery)
	cronJobs := []string{"perch-stopped", "perch-suspended"}
	for _, j := range w.jobs {
		cronJobs = append(cronJobs, j.cronJob)
		of := fmt.Sprintf("namespace=\"shop\",job_name=%q", j.name)
		_, _ = fmt.Fprintf(rw, "kube_job_owner{%s,owner_kind=\"CronJob\",owner_name=%q} 1\n", of, j.cronJob)
		_, _ = fmt.Fprintf(rw, "kube_job_status_start_time{%s} %d\n", of, j.started.Unix())
		_, _ = fmt.Fprintf(rw, "kube_job_failed{%s,condition=\"true\"} %d\n", of, map[bool]int{true: 1}[j.failed])
	}
	slices.Sort(cronJobs)
	for _, c := range slices.Compact(cronJobs) {
		of := fmt.Sprintf("{namespace=\"shop\",cronjob=%q}", c)
		suspended := c == "perch-suspended"
		_, _ = fmt.Fprintf(rw, "kube_cronjob_created%s %d\nkube_cronjob_spec_suspend%s %d\n", of, w.began.Unix(), of, map[bool]int{true: 1}[suspended])
		_, _ = fmt.Fprintf(rw, "kube_cronjob_status_last_schedule_time%s %d\n", of, scheduled.Unix())
		if !suspended {
			_, _ = fmt.Fprintf(rw, "kube_cronjob_next_schedule_time%s %d\n", of, scheduled.Add(cronEvery).Unix())
		}
		if at, ever := w.succeeded[c]; ever {
			_, _ = fmt.Fprintf(rw, "kube_cronjob_status_last_successful_time%s %d\n", of, at.Unix())
		}
	}
}

// firing is an alert as Prometheus tells it.
type firing struct {
	Labels, Annotations map[string]string
	State               string
}

func (f firing) String() string { return f.name() }

// name is the alert's, and what it is of.
func (f firing) name() string {
	for _, l := range []string{"cronjob", "perch", "instance"} {
		if of := f.Labels[l]; of != "" {
			return f.Labels["alertname"] + " " + of
		}
	}
	return f.Labels["alertname"]
}

// healthy reports whether it is of a perch that works. That the machine of the
// tests is busy is another matter.
func (f firing) healthy(w *rulesWorld) bool {
	well := []string{"perch-ordinary", "perch-suspended", "ordinary", "served", w.serving}
	return f.Labels["alertname"] != "PerchDelayed" && slices.ContainsFunc(well, func(of string) bool {
		return f.Labels["cronjob"] == of || f.Labels["perch"] == of || f.Labels["instance"] == of
	})
}

// checkText: what Prometheus makes of the templates is a sentence.
func (f firing) checkText(t *testing.T) {
	t.Helper()
	for part, text := range f.Annotations {
		for _, bad := range []string{"<error", "<no value>", "{{", "  "} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: its %s is %q", f.name(), part, text)
			}
		}
	}
}

func (p server) firing() ([]firing, error) {
	resp, err := http.Get("http://" + string(p) + "/api/v1/alerts")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Data struct{ Alerts []firing } }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Data.Alerts, func(f firing) bool { return f.State != "firing" }), nil
}
