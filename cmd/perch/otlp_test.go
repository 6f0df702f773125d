package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perch.example/lab"
	"perch.example/probes"
	"perch.example/trace/tracetest"
)

// receive starts a receiver that ends with the test.
func receive(t *testing.T, v *tracetest.Receiver) string {
	t.Helper()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	return server.URL
}

// TestTracesOfTheDemo: the demo's run as spans, each under the id that its request
// carried to the server.
func TestTracesOfTheDemo(t *testing.T) {
	t.Parallel()
	// A tenth of a second apart, as in the demo, the server's close and a hold are soon one
	// and the same on a busy machine.
	text := strings.NewReplacer("900ms", "600ms", "1800ms", "1600ms").Replace(read(t, "demo.yaml"))
	calmly(t, func() string {
		spans, problem := tracesOf(t, text)
		if problem != "" {
			return problem
		}
		if updating() {
			writeFile(t, "testdata/demo.spans", spanTree(spans))
		}
		if got := spanTree(spans); got != read(t, "testdata/demo.spans") {
			return fmt.Sprintf("the demo's spans are others:\n%s", got)
		}
		return ""
	})
}

// tracesOf runs a config of the demo's server, and says where the spans that are exported
// are others than the requests carried.
func tracesOf(t *testing.T, text string) (spans []tracetest.Span, problem string) {
	t.Helper()
	v := &tracetest.Receiver{}
	api := startLab(t, "incident", lab.Options{})
	path := filepath.Join(t.TempDir(), "perch.yaml")
	writeFile(t, path, strings.ReplaceAll(text, "http://api.example", api.URL())+"otlp: {endpoint: "+receive(t, v)+"}\nalerts: {settle: none}\n")
	r := perch(t.Context(), nil, "run", "--config", path, "--output", "json", "--fail-on", "never")
	if r.code != exitOK || len(v.Wrong()) > 0 {
		return nil, fmt.Sprintf("exit status %d, %v\n%s%s", r.code, v.Wrong(), r.stdout, r.stderr)
	}
	spans = v.Spans()
	carried := map[string]bool{}
	for _, q := range api.Requests() {
		parts := strings.Split(q.Header.Get("Traceparent"), "-")
		if len(parts) != 4 || parts[3] != "01" {
			t.Fatalf("traceparent %q", q.Header.Get("Traceparent"))
		}
		carried[parts[1]+" "+parts[2]] = true
	}
	unseen := 0
	for _, s := range spans {
		id := s.Trace + " " + s.ID
		switch {
		case !s.Client || carried[id]:
		case s.Attributes["perch.connection"] == "reused" && s.Failed:
			unseen++ // the server had closed the connection: it never read the request
		default:
			t.Errorf("%s is exported, and no request carried it: %v", id, s.Attributes)
		}
		delete(carried, id)
	}
	if len(carried) > 0 || unseen != 3 {
		return nil, fmt.Sprintf("requests carried %v, which are not exported; %d that the server did not read, want 3", slices.Sorted(maps.Keys(carried)), unseen)
	}
	return spans, ""
}

// spanTree is the spans without what is another in each run.
func spanTree(spans []tracetest.Span) string {
	var b strings.Builder
	connections := map[string]any{}
	for _, s := range spans {
		connections[s.ID] = s.Attributes["perch.connection"]
	}
	for _, s := range spans {
		indent := ""
		if s.Parent != "" {
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%s failed=%v\n", indent, s.Name, s.Failed)
		for _, key := range steadyKeys() {
			if value, there := s.Attributes[key]; there {
				fmt.Fprintf(&b, "%s  %s = %v\n", indent, key, value)
			}
		}
		for _, e := range s.Events {
			if e.Name != "wait" && e.Name != "transfer" { // whether they took any time is not sure
				fmt.Fprintf(&b, "%s  * %s\n", indent, e.Name)
			}
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, "%s  -> %s: %v\n", indent, connections[l.ID], l.What)
		}
	}
	return b.String()
}

func steadyKeys() []string {
	return []string{
		"perch.verdict", "perch.diagnosis", "perch.hold_seconds", "perch.closed_by", "perch.retry", "perch.application_retry", "perch.client", "perch.attempts",
		"http.request.method", "http.response.status_code", "http.request.resend_count", "url.path", "network.protocol.version", "error.type",
		"perch.connection", "perch.reason", "perch.requests_before",
	}
}

const exported = `
version: 1
name: noted
vantage: test
targets:
  - name: api
    url: http://api.example
    probes: [{name: get, kind: http, path: /}]
otlp: {endpoint: "http://otlp.example", metrics: delta, headers: [{name: Authorization, prefix: "Bearer ", from: {env: HOOK}}]}
state: {file: /nowhere/state}
`

// receiving is a diary whose OTLP endpoint takes what it is told to.
type receiving struct {
	diary
	v      tracetest.Receiver
	status int
}

func (r *receiving) RoundTrip(q *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(q.URL.Host, "otlp") {
		return r.diary.RoundTrip(q)
	}
	if r.v.Answer == nil {
		r.v.Answer = func(int, *http.Request) tracetest.Answer {
			r.mu.Lock()
			defer r.mu.Unlock()
			return tracetest.Answer{Status: r.status}
		}
	}
	w := httptest.NewRecorder()
	r.v.ServeHTTP(w, q)
	if err := r.note(strings.TrimPrefix(q.URL.Path, "/v1/")); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// answers is what it answers from now on.
func (r *receiving) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// total is what was taken of a counter, over all its series.
func (r *receiving) total(name, label, value string) (sum float64) {
	for _, p := range r.v.Points() {
		if p.Name == name && p.Kind == "sum" && p.Labels[label] == value {
			sum += p.Value
		}
	}
	return sum
}

// TestExportAcrossRuns: what one run could not send goes out with the next one, that
// it failed included; and nothing goes out twice.
func TestExportAcrossRuns(t *testing.T) {
	t.Parallel()
	r := &receiving{}
	for n, status := range []int{200, 401, 403, 200, 200} {
		r.status = status
		p, log := newPass(t, exported, &r.diary)
		p.sys.web = r
		run := take(t, p, probes.VerdictPass)
		failed := len(run.Problems) > 0
		if failed != (status != 200) || failed && (run.Problems[0].Part != probes.PartPush || len(run.Problems) != 2) {
			t.Errorf("run %d, status %d: problems %v", n+1, status, run.Problems)
		}
		if text := log.String() + fmt.Sprint(run.Problems); strings.Contains(text, "slack.example/services") {
			t.Errorf("a secret is shown: %s", text)
		}
		_, kept := r.doc.Sections[sectionOTLP]
		if kept != failed {
			t.Errorf("run %d, status %d: what was not sent is kept: %v", n+1, status, kept)
		}
	}
	// Of the last run itself: its problems come with the next one. Two runs failed,
	// each with its spans and with its numbers.
	for _, c := range []struct {
		name, label, value string
		want               float64
	}{
		{"perch_runs_total", "verdict", "pass", 5}, {"perch_attempts_total", "reason", "ok", 5}, {"perch_problems_total", "part", "push", 4}, {"perch_requests_total", "target", "api", 5},
	} {
		if got := r.total(c.name, c.label, c.value); got != c.want {
			t.Errorf("%s{%s=%q} grew by %v in all, want %v", c.name, c.label, c.value, got, c.want)
		}
	}
	if q := r.v.Requests()[0]; q.Header.Get("Authorization") != "Bearer https://slack.example/services/T/B/x" {
		t.Errorf("sent with %v", q.Header)
	}
	if got := len(r.v.Spans()); got != 6 {
		t.Errorf("%d spans were taken, want those of the three runs that could send", got)
	}
}

// TestExportOrder: what is sent was saved before; and what cannot be saved is not sent.
func TestExportOrder(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		fails string // the event, and which of them
		want  []string
	}{
		"all is well":          {"", []string{"reserve", "save", "traces", "metrics"}},
		"the save fails":       {"save 1", []string{"reserve", "save failed"}},
		"the last save fails":  {"save 2", []string{"reserve", "save", "traces", "metrics"}},
		"the connection fails": {"metrics 1", []string{"reserve", "save", "traces", "metrics failed", "metrics"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &receiving{}
			r.fails = func(event string, nth int) error {
				if fmt.Sprint(event, " ", nth) == c.fails {
					return broken
				}
				return nil
			}
			p, _ := newPass(t, exported, &r.diary)
			p.sys.web = r
			take(t, p, probes.VerdictPass)
			if !slices.Equal(r.events, c.want) {
				t.Errorf("%q, want %q", r.events, c.want)
			}
		})
	}
}

// TestExportWithoutState: deltas need none; what could not be sent is lost, and the
// counts begin at what the run itself counted.
func TestExportWithoutState(t *testing.T) {
	t.Parallel()
	r := &receiving{status: 200}
	for range 2 {
		p, _ := newPass(t, strings.Replace(exported, "state: {file: /nowhere/state}\n", "", 1), &r.diary)
		p.sys.web, p.store = r, nil
		if run := take(t, p, probes.VerdictPass); len(run.Problems) > 0 {
			t.Fatal(run.Problems)
		}
	}
	if got := r.total("perch_runs_total", "verdict", "pass"); got != 2 {
		t.Errorf("%v runs, want 2", got)
	}
}

// TestUnsentThatCannotBeRead is a problem of the state's, and no reason not to run.
func TestUnsentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := &receiving{status: 200}
	r.doc.SetSection(sectionOTLP, json.RawMessage(`{"v":9}`))
	p, _ := newPass(t, exported, &r.diary)
	p.sys.web = r
	run := take(t, p, probes.VerdictPass)
	if len(run.Problems) != 1 || run.Problems[0].Part != probes.PartState || r.total("perch_problems_total", "part", "state") != 1 {
		t.Errorf("%v, %v counted", run.Problems, r.total("perch_problems_total", "part", "state"))
	}
}

// TestExportOverTLS: the config's authority is trusted, and it alone.
func TestExportOverTLS(t *testing.T) {
	t.Parallel()
	v := &tracetest.Receiver{}
	server := httptest.NewTLSServer(v)
	defer server.Close()
	api := startLab(t, "healthy", lab.Options{})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	text := `
version: 1
name: a
vantage: b
targets: [{name: api, url: "${URL}", probes: [{name: get, kind: http, path: /}]}]
otlp: {endpoint: "` + server.URL + `", ca_file: CA, timeout: 10s}
`
	trusting := configFile(t, api.URL(), strings.Replace(text, "CA,", ca+",", 1))
	if r := perch(t.Context(), nil, "run", "--config", trusting); r.code != exitOK || len(v.Spans()) != 2 {
		t.Errorf("exit status %d, %d spans\n%s", r.code, len(v.Spans()), r.stderr)
	}
	other := startLab(t, "healthy", lab.Options{TLS: true})
	file, err := other.WriteCA(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wrong := configFile(t, api.URL(), strings.Replace(text, "CA,", file+",", 1))
	r := perch(t.Context(), nil, "run", "--config", wrong)
	if r.code != exitOwn || !strings.Contains(r.stderr, "certificate") || len(v.Spans()) != 2 {
		t.Errorf("another authority: exit status %d, %d spans\n%s", r.code, len(v.Spans()), r.stderr)
	}
	missing := configFile(t, api.URL(), strings.Replace(text, "CA,", os.DevNull+",", 1))
	if r := perch(t.Context(), nil, "run", "--config", missing); r.code != exitOwn || !strings.Contains(r.stderr, "no PEM certificate inside") {
		t.Errorf("no authority: exit status %d\n%s", r.code, r.stderr)
	}
}

// TestExportSecretIsCheckedFirst: nothing is sent where the header cannot be read.
func TestExportSecretIsCheckedFirst(t *testing.T) {
	t.Parallel()
	api := startLab(t, "healthy", lab.Options{})
	path := configFile(t, api.URL(), strings.NewReplacer("http://api.example", "${URL}", "{env: HOOK}", "{env: GONE}", "/nowhere", "${DIR}").Replace(exported))
	r := perch(t.Context(), nil, "run", "--config", path)
	if r.code != exitUsage || !strings.Contains(r.stderr, "otlp.headers") || len(api.Requests()) > 0 {
		t.Errorf("exit status %d, %d requests\n%s", r.code, len(api.Requests()), r.stderr)
	}
}
