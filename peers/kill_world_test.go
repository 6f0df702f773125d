//go:build peers

package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/internal/slackfake"
)

// killWorld is everything that a run meets: APIs of which one fails, a webhook,
// Slack and a real Pushgateway.
type killWorld struct {
	api, hook, slack, gateway *httptest.Server
	workspace                 *slackfake.Fake

	mu       sync.Mutex
	failing  string           // the target that answers 500; empty: none
	asked    int              // requests to the APIs
	told     []alert.Document // what the webhook got, in order
	pushed   map[string]float64
	problems []string
}

// answersAfter is how long a destination takes: without it hardly any kill would come
// between a notice and its answer.
const answersAfter = 10 * time.Millisecond

func newKillWorld(t *testing.T) *killWorld {
	w := &killWorld{pushed: map[string]float64{}, workspace: slackfake.New(slackfake.Config{
		Channels: []slackfake.Channel{{ID: "C0123456789", Name: "stock", Member: true}},
		Hooks:    []slackfake.Hook{{Path: "/services/T/B/secret", Channel: "C0123456789"}},
	})}
	w.api = httptest.NewServer(http.HandlerFunc(w.answer))
	w.hook = httptest.NewServer(http.HandlerFunc(w.hear))
	w.slack = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.workspace.ServeHTTP(out, r)
		time.Sleep(answersAfter) // the answer is sent when this ends
	}))
	w.gateway = httptest.NewServer(w.push(t))
	for _, s := range []*httptest.Server{w.api, w.hook, w.slack, w.gateway} {
		t.Cleanup(s.Close)
	}
	return w
}

func (w *killWorld) answer(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if w.failing != "" && strings.HasPrefix(r.URL.Path, "/"+w.failing+"/") {
		out.WriteHeader(http.StatusInternalServerError)
	}
}

// fail lets one target fail and all others work.
func (w *killWorld) fail(target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failing = target
}

func (w *killWorld) hear(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // killed while it sent: nothing was told
	}
	var d alert.Document
	err = json.Unmarshal(body, &d)
	w.mu.Lock()
	if err != nil {
		w.problems = append(w.problems, fmt.Sprintf("the webhook got %q: %v", body, err))
	}
	w.told = append(w.told, d)
	w.mu.Unlock()
	time.Sleep(answersAfter)
}

// push hands each push on to a real gateway, and then looks whether a counter
// that it holds went backwards.
func (w *killWorld) push(t *testing.T) http.Handler {
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t, nil, "127.0.0.1"))
	run(t, nil, "prometheus-pushgateway", exec.Command("prometheus-pushgateway", "--web.listen-address="+address, "--persistence.file="))
	awaitReady(t, "http://"+address+"/-/ready")
	var pushing sync.Mutex
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		pushing.Lock()
		defer pushing.Unlock()
		to.ServeHTTP(out, r)
		_ = http.NewResponseController(out).Flush() // perch need not wait for what follows
		w.mu.Lock()
		defer w.mu.Unlock()
		now := counters(get(t, "http://"+address+"/metrics"))
		w.problems = append(w.problems, backwards("a push", w.pushed, now)...)
		w.pushed = now
	})
}

// counters reads the counters of perch, and the counts of its histograms, out of
// a text exposition, but without labels that only a push has.
func counters(text string) map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		name, labels, labelled := strings.Cut(series, "{")
		counts := strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_count")
		if !labelled || !counts || !strings.HasPrefix(name, "perch_") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		labels = strings.Replace(strings.Replace(labels, `instance="",`, "", 1), `job="perch",`, "", 1)
		all[name+"{"+labels+"}"] = n
	}
	return all
}

// backwards says which counters went down, or are gone.
func backwards(where string, before, now map[string]float64) []string {
	var problems []string
	for _, series := range slices.Sorted(maps.Keys(before)) {
		if now[series] < before[series] {
			problems = append(problems, fmt.Sprintf("%s: %s went from %v to %v", where, series, before[series], now[series]))
		}
	}
	return problems
}

// sum adds up the series of one name.
func sum(all map[string]float64, name string) float64 {
	total := 0.0
	for series, n := range all {
		if strings.HasPrefix(series, name+"{") {
			total += n
		}
	}
	return total
}
