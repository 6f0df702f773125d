//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/metrics"
	"perch.example/state"
)

// Each run opens an incident of a target of its own, and ends that of the run
// before: so none flaps, and no two notices say the same.
const (
	kills    = 100
	measured = 6  // runs before, that only show how long one takes
	again    = 10 // of so many runs one more shows it, for a machine is busy now and then
	targets  = kills + measured + kills/again
)

// victim is the perch that is killed again and again.
type victim struct {
	world          *killWorld
	binary, config string
	statePath      string
	env            []string
	settings       config.Config
	stored         map[string]float64 // counters of the last state
	expected       map[string]bool    // incidents that a state once held as open, by name
	finished       int                // attempts that runs reported which ended by themselves
	problems       []string
	lasted         time.Duration // the last run, from its start to its end
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	binary, err := buildPerch()
	if err != nil {
		t.Fatal(err)
	}
	w, dir := newKillWorld(t), t.TempDir()
	var text strings.Builder
	fmt.Fprintf(&text, `
version: 1
name: killed
vantage: peers
defaults: {rate_limit: 50/s, share: 100%%}
alerts: {fire_after: 1, resolve_after: 1, settle: none}
slack: {webhook: {from: {env: SLACK}}}
webhook: {url: %q}
metrics: {push: {url: %q}, max_series: 200000}
state: {file: %q}
targets:
`, w.hook.URL, w.gateway.URL, filepath.Join(dir, "state"))
	for n := range targets {
		fmt.Fprintf(&text, "  - {name: %s, url: \"%s/%s\", probes: [{name: get, kind: http, path: /}]}\n", target(n), w.api.URL, target(n))
	}
	v := &victim{
		world: w, binary: binary, statePath: filepath.Join(dir, "state"), stored: map[string]float64{}, expected: map[string]bool{},
		config: write(t, filepath.Join(dir, "perch.yaml"), text.String()),
		env:    append(os.Environ(), "SLACK="+w.slack.URL+"/services/T/B/secret"),
	}
	if v.settings, err = config.Load(v.config, config.Options{Env: os.LookupEnv}); err != nil {
		t.Fatal(err)
	}
	return v
}

func target(n int) string { return fmt.Sprintf("t%03d", n%targets) }

// run starts a run of some targets, and kills it after a while; 0: it may end.
// It reports whether the run ended by itself.
func (v *victim) run(t *testing.T, after time.Duration, only ...string) bool {
	t.Helper()
	args := []string{"run", "--config", v.config, "--all", "--output", "json", "--fail-on", "never"}
	for _, name := range only {
		args = append(args, "--only", name)
	}
	cmd := exec.Command(v.binary, args...)
	cmd.Env = v.env
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
	}
	err := cmd.Wait()
	v.lasted = time.Since(began)
	v.look(t)
	if cmd.ProcessState.ExitCode() < 0 {
		return false // killed
	}
	var report document
	if err != nil {
		t.Fatalf("a run failed: %v\n%s", err, log.String())
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("reading the report: %v\n%s", err, out.String())
	}
	for _, o := range report.Outcomes {
		v.finished += len(o.Attempts)
	}
	if n := sum(v.stored, "perch_attempts_total"); n < float64(v.finished) {
		v.problems = append(v.problems, fmt.Sprintf("runs that ended made %d attempts, the state counts %v", v.finished, n))
	}
	return true
}

// look reads the state as the next run will find it.
func (v *victim) look(t *testing.T) alert.Memory {
	t.Helper()
	d, err := state.ReadFile(v.statePath)
	if err != nil {
		t.Fatalf("the state is lost: %v", err)
	}
	var memory alert.Memory
	if raw := d.Sections["alert"]; raw != nil {
		if err := json.Unmarshal(raw, &memory); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range memory.Incidents {
		v.expected[fmt.Sprintf("%s/%s#%d", i.Target, i.Family, i.Number)] = true
	}
	m := metrics.New(metrics.Options{Name: "killed", Vantage: "peers", Targets: v.settings.Targets, Destinations: []string{"slack", "webhook"}})
	if err := m.Restore(d.Sections["metrics"]); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Text(&text); err != nil {
		t.Fatal(err)
	}
	now := counters(text.String())
	v.problems = append(v.problems, backwards("the state", v.stored, now)...)
	v.stored = now
	return memory
}

// TestKilledRuns kills the real binary at random instants of a run. No counter
// that was stored or pushed goes backwards, every incident that was stored is
// told as opened and as resolved, and what is told twice says so.
func TestKilledRuns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	v := newVictim(t)
	var took []time.Duration // of runs that ended by themselves
	step := 0
	next := func(after time.Duration) (killed bool) {
		ended := v.step(t, step, after)
		if step++; ended {
			took = append(took, v.lasted)
		}
		return !ended
	}
	for range measured {
		next(0)
	}
	killed := 0
	for n := range kills {
		if n%again == again-1 {
			next(0)
		}
		whole := lately(took) * 11 / 10 // the last thing that a run does is as likely as any other
		after := time.Duration(random.Float64() * float64(whole))
		if n%2 == 1 { // while it saves, tells and pushes, which is short
			after = whole/2 + after/2
		}
		if next(max(after, time.Millisecond)) {
			killed++
		}
	}
	v.world.fail("")
	for n := 0; n < targets; n += 2 { // two at a time: three would be told as one
		v.run(t, 0, target(n), target(n+1))
	}
	memory := v.look(t)
	t.Logf("a run takes %s; %d of %d runs were killed; %d incidents", lately(took), killed, kills, len(v.expected))
	v.check(t, memory, killed)
}

// lately is how long the last runs that ended by themselves took: the median.
func lately(took []time.Duration) time.Duration {
	last := slices.Sorted(slices.Values(took[len(took)-measured:]))
	return last[measured/2]
}

// step is a run in which one target fails and the one before works again.
func (v *victim) step(t *testing.T, n int, after time.Duration) bool {
	t.Helper()
	v.world.fail(target(n))
	return v.run(t, after, target(n), target(n+targets-1))
}

func (v *victim) check(t *testing.T, memory alert.Memory, killed int) {
	t.Helper()
	w := v.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, problem := range slices.Concat(v.problems, w.problems) {
		t.Error(problem)
	}
	if killed < kills/2 || len(v.expected) < kills/10 {
		t.Errorf("%d kills and %d incidents prove little", killed, len(v.expected))
	}
	if open := memory.Open(); len(open) > 0 || len(memory.Outbox) > 0 {
		t.Errorf("at the end %d incidents are open and %d notices wait", len(open), len(memory.Outbox))
	}
	for name := range v.expected {
		opened := slices.IndexFunc(w.told, tells(name, alert.StateFiring))
		ended := slices.IndexFunc(w.told, tells(name, alert.StateResolved))
		if opened < 0 || ended < opened {
			t.Errorf("%s: opened with notice %d, resolved with %d; want both, in order", name, opened, ended)
		}
	}
	repeats := 0
	for n, d := range w.told {
		before := slices.ContainsFunc(w.told[:n], func(o alert.Document) bool { return o.ID == d.ID })
		if before && !d.PossibleRepeat {
			t.Errorf("%q was told again without saying so", d.ID)
		}
		if before {
			repeats++
		}
	}
	slack := map[string]bool{}
	for _, m := range w.workspace.Messages() {
		if slack[m.Text] && !strings.Contains(string(m.Blocks), "may be a repeat") {
			t.Errorf("Slack was told %q again without saying so", m.Text)
		}
		slack[m.Text] = true
	}
	if len(slack) < len(v.expected) {
		t.Errorf("Slack has %d different messages of %d incidents", len(slack), len(v.expected))
	}
	if n := sum(v.stored, "perch_attempts_total"); n > float64(w.asked) {
		t.Errorf("%v attempts are counted, and the APIs were asked %d times", n, w.asked)
	}
	t.Logf("%d notices told to the webhook, %d of them again; %d attempts of runs that ended, %v counted, %d requests seen",
		len(w.told), repeats, v.finished, sum(v.stored, "perch_attempts_total"), w.asked)
}

// tells finds a notice about an incident in that state.
func tells(name string, in alert.State) func(alert.Document) bool {
	return func(d alert.Document) bool {
		return slices.ContainsFunc(d.Incidents, func(i alert.DocumentIncident) bool { return i.Name == name && i.State == in })
	}
}
