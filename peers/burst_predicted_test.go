//go:build peers

package peers

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose"
	"perch.example/diagnose/calls"
	"perch.example/diagnose/clients"
	"perch.example/internal/stood"
	"perch.example/probes"
)

const (
	burstTimeout = time.Second // of the server
	burstPool    = 20
	burstAnswer  = 60 * time.Millisecond // how long an answer takes, so that calls overlap as they do over a real way
)

// traffic is an application's calls through a pool of Apache HttpClient 4.5.
type traffic struct {
	name     string
	calls    []time.Duration // when each is made
	shape    *probes.Shape   // the same as a probe declares it; nil: no shape, or a pool that such calls do not fill
	validate int             // ms; -1: never
	retries  bool            // the client's own
	least    float64         // the share that fails is more than that: else the test would say nothing
	within   float64         // of the predicted share
}

func (tr traffic) client() probes.Client {
	c := probes.Client{Kind: "apache-httpclient-4.5", AutomaticRetries: probes.SwitchNone}
	if tr.retries {
		c.AutomaticRetries = probes.SwitchDefault
	}
	c.ValidateAfter = probes.Limit{Mode: probes.LimitAfter, After: time.Duration(tr.validate) * time.Millisecond}
	if tr.validate < 0 {
		c.ValidateAfter = probes.Limit{Mode: probes.LimitNone}
	}
	return c
}

// burstsOf are the calls of a shape.
func burstsOf(s probes.Shape) []time.Duration {
	var all []time.Duration
	for i := range s.Calls() {
		all = append(all, s.Offset(i))
	}
	return all
}

// swell is a burst of as many calls as the pool has connections, then one call after the other
// for as long: a pool that hands out what was used last leaves the rest alone.
func swell(times int, paced time.Duration) []time.Duration {
	const every = 250 * time.Millisecond
	var all []time.Duration
	at := time.Duration(0)
	for range times {
		for range burstPool {
			all = append(all, at)
		}
		for end := at + paced; at+every <= end; {
			at += every
			all = append(all, at)
		}
		at += every
	}
	return all
}

func traffics() []traffic {
	bursts := func(requests int, over, gap time.Duration) []time.Duration {
		return burstsOf(probes.Shape{Requests: requests, Over: over, Connections: burstPool, Bursts: 4, Gap: gap})
	}
	const ms = time.Millisecond
	at := func(gap time.Duration) *probes.Shape {
		return &probes.Shape{Requests: burstPool, Connections: burstPool, Bursts: 4, Gap: gap}
	}
	return []traffic{
		{name: "bursts of 20, 0.5 s between", calls: bursts(20, 0, 500*ms), shape: at(500 * ms), validate: 2000, least: -1, within: 0.05},
		{name: "bursts of 20, 1.5 s between, in the band", calls: bursts(20, 0, 1500*ms), shape: at(1500 * ms), validate: 2000, least: 0.3, within: 0.05},
		{name: "bursts of 60 in 1.2 s, 1.4 s between", calls: bursts(60, 1200*ms, 1400*ms), validate: 2000, least: 0.02, within: 0.05},
		{name: "bursts of 12 in 600 ms, 1.4 s between", calls: bursts(12, 600*ms, 1400*ms), validate: 2000, least: 0.05, within: 0.05},
		{name: "bursts of 20, 3 s between: it looks", calls: bursts(20, 0, 3*time.Second), shape: at(3 * time.Second), validate: 2000, least: -1, within: 0.05},
		{name: "bursts of 20, 3 s between: it never looks", calls: bursts(20, 0, 3*time.Second), shape: at(3 * time.Second), validate: -1, least: 0.3, within: 0.05},
		{name: "bursts of 20, then one call every 250 ms", calls: swell(3, 1500*ms), validate: 2000, least: 0.1, within: 0.05},
		{name: "bursts of 20, 1.5 s between, automatic retries", calls: bursts(20, 0, 1500*ms), validate: 2000, retries: true, least: 0.02, within: 0.12}, // which of 20 threads draws again is chance,
	}
}

// TestPredictedFailures is what predictions are for: perch measures by a burst after how long
// a server ends idle connections, and says from that which share of an application's calls
// fails. Apache HttpClient, which makes the same calls, must agree within 5 points.
func TestPredictedFailures(t *testing.T) {
	for _, server := range []string{"go", "nginx"} {
		t.Run(server, func(t *testing.T) {
			address := slowServer(t, server)
			var path clients.Path
			var took time.Duration
			stood.Again(t, stood.Moment, func() (wrong []string) {
				path, took, wrong = measuredByBurst(t, address)
				return wrong
			})
			t.Logf("%s: idle connections end after %s (%s); an answer takes %s", server, path.Timeout, path.End, took)
			for tr, real := range playInTime(t, address, traffics()) {
				t.Run(tr.name, func(t *testing.T) { compare(t, *tr, path, took, real) })
			}
		})
	}
}

// experienced is what the Java program says of one traffic.
type experienced struct {
	ID            string
	Calls, Failed int
	LateMS        int `json:"late_ms"`
	Errors        map[string]int
	LeftUS        [][3]int64    `json:"left_us"` // of each call, when it left, how long it took, and 1 if it failed
	still         time.Duration // for how long at a time the machine stood still meanwhile, at most
}

// log is a file of the calls as they really left. Those that failed say so: they took a millisecond, and
// that is not for how long their connection were in use if it lived.
func (e experienced) log(t *testing.T) calls.Log {
	t.Helper()
	var text strings.Builder
	for _, left := range e.LeftUS {
		fmt.Fprintf(&text, "%d %dus%s\n", 1_772_445_600_000_000+left[0], left[1], strings.Repeat(" failed", int(left[2])))
	}
	log, err := calls.Read(strings.NewReader(text.String()), "calls.txt")
	if err != nil || log.Failed != e.Failed || len(log.Calls) != e.Calls {
		t.Fatalf("%d of %d calls failed by their log: %v", log.Failed, len(log.Calls), err)
	}
	return log
}

// compare holds the real client against two predictions: one from the times that were planned,
// and one from those at which the calls really left, as an access log would have them.
func compare(t *testing.T, tr traffic, path clients.Path, took time.Duration, real experienced) {
	t.Helper()
	var planned []clients.Call
	for _, at := range tr.calls {
		planned = append(planned, clients.Call{At: at, Took: -1})
	}
	if late := real.late(); late > leavesWithin {
		t.Fatalf("in %d rounds its calls were never made in time, but %s late at best: the machine is too busy", burstRounds, late)
	}
	share := float64(real.Failed) / float64(real.Calls)
	t.Logf("experienced %.1f%% (%d of %d: %v); the latest call left %d ms late", 100*share, real.Failed, real.Calls, real.Errors, real.LateMS)
	in := diagnose.Input{Spec: probes.Spec{Kind: probes.KindIdle, Client: new(tr.client()), Pool: burstPool}}
	in.Observations = []probes.Observation{{Attempts: []probes.Attempt{{Reason: probes.ReasonOK, Elapsed: took}}}}
	all := diagnose.Predict(in, path, diagnose.CallTimes{Source: "the planned times", Calls: planned}, diagnose.CallTimes{Source: "the log", Calls: real.log(t).Calls})
	want := 2
	if tr.shape != nil {
		in.Spec.Kind, in.Spec.Burst = probes.KindBurst, tr.shape
		times, _ := diagnose.DeclaredTimes(in.Spec)
		all, want = append(all, diagnose.Predict(in, path, times)...), 3
	}
	if len(all) != want {
		t.Errorf("%d predictions, want %d", len(all), want)
	}
	for _, p := range all {
		t.Logf("predicted %.1f%% (%d) by %s; %.0f%% of %d gaps lie in the band", 100*p.FailedShare(), p.Failed, p.Source, 100*p.BandShare(), p.Gaps)
		if off := math.Abs(share - p.FailedShare()); off > tr.within {
			t.Errorf("the prediction by %s is %.1f points off", p.Source, 100*off)
		}
	}
	if share <= tr.least {
		t.Errorf("hardly any call failed: it says nothing of the prediction")
	}
	for name := range real.Errors {
		if name != "org.apache.http.NoHttpResponseException" && name != "java.net.SocketException" {
			t.Errorf("%s is no dead connection", name)
		}
	}
}

// measuredByBurst is what a burst probe of perch's measures of the path, and how long an answer
// takes it; and what is wrong with that.
func measuredByBurst(t *testing.T, address string) (path clients.Path, took time.Duration, wrong []string) {
	t.Helper()
	spec := newSpec(t, probes.KindBurst, address, "status == 200")
	spec.Burst = &probes.Shape{Requests: 20, Connections: 10, Over: 200 * time.Millisecond, Bursts: 3, Gap: 1500 * time.Millisecond}
	spec.PoolOrder = clients.PoolOrder("apache-httpclient-4.5")
	obs := probes.RunBurst(t.Context(), spec, newEnv())
	in := diagnose.Input{Spec: *spec, Observations: []probes.Observation{obs}, Now: time.Now()}
	for _, o := range diagnose.Judge(in) {
		t.Logf("%s: %s", o.Verdict, o.Message)
	}
	path = diagnose.IdlePath(in)
	if path.Timeout < burstTimeout-50*time.Millisecond || path.Timeout > burstTimeout+100*time.Millisecond {
		wrong = append(wrong, fmt.Sprintf("measured %s, want %s", path.Timeout, burstTimeout))
	}
	return path, diagnose.UsualTime(in.Observations), wrong
}

// leavesWithin is how late a call may leave, and how much longer than the server takes its answer
// may take: on a busy machine threads wake late, and then it is other traffic, which is played
// again.
const leavesWithin = 50 * time.Millisecond

// closesWithin is for how long the machine may stand still meanwhile: the server, too, is then
// late, and closes what it should have closed before the next burst's calls.
const closesWithin = 300 * time.Millisecond

// burstRounds is how often a traffic is played at most.
const burstRounds = 16

// inTime reports whether a traffic was the planned one, and so was what the server did.
func (e experienced) inTime() bool { return e.late() <= leavesWithin && e.still <= closesWithin }

// late is by how much a traffic was not the planned one.
func (e experienced) late() time.Duration {
	latest := time.Duration(e.LateMS) * time.Millisecond
	for _, left := range e.LeftUS {
		latest = max(latest, time.Duration(left[1])*time.Microsecond-burstAnswer)
	}
	return latest
}

// playInTime has Apache HttpClient make all calls, each traffic through a pool of its own,
// until they left in time.
func playInTime(t *testing.T, address string, all []traffic) map[*traffic]experienced {
	t.Helper()
	argv := burstsProgram(t)
	best := map[*traffic]experienced{}
	machine := stood.Recorded(t, leavesWithin)
	for range burstRounds {
		var left []*traffic
		for i := range all {
			if seen, ok := best[&all[i]]; !ok || !seen.inTime() {
				left = append(left, &all[i])
			}
		}
		if len(left) == 0 {
			break
		}
		began := time.Now()
		played := play(t, argv, address, left)
		still := machine.Since(began)
		for tr, seen := range played {
			seen.still = still
			if before, ok := best[tr]; !ok || seen.inTime() || seen.late() < before.late() {
				best[tr] = seen
			}
		}
	}
	if len(best) != len(all) {
		t.Fatalf("%d of %d were played", len(best), len(all))
	}
	return best
}

func play(t *testing.T, argv []string, address string, all []*traffic) map[*traffic]experienced {
	t.Helper()
	var lines []string
	for i, tr := range all {
		var times []string
		for _, at := range tr.calls {
			times = append(times, fmt.Sprint(at.Milliseconds()))
		}
		retries := "none"
		if tr.retries {
			retries = "retries"
		}
		lines = append(lines, strings.Join([]string{strconv.Itoa(i), address, strconv.Itoa(burstPool), strconv.Itoa(tr.validate), retries, strings.Join(times, ",")}, "\t"))
	}
	seen := map[*traffic]experienced{}
	for _, e := range runClients[experienced](t, argv, lines) {
		if i, err := strconv.Atoi(e.ID); err == nil && i < len(all) && len(e.LeftUS) == len(all[i].calls) {
			seen[all[i]] = e
		}
	}
	return seen
}

func burstsProgram(t *testing.T) []string {
	t.Helper()
	dir := worldDir(t)
	jars := []string{dir}
	for _, jar := range []string{"httpclient", "httpcore", "commons-logging", "commons-codec"} {
		jars = append(jars, "/usr/share/java/"+jar+".jar")
	}
	classPath := strings.Join(jars, ":")
	files := copied(t, dir, map[string]string{}, "java/Bursts.java")
	build(t, javaPackages, append([]string{"javac", "-d", dir, "-cp", classPath}, files...)...)
	return []string{"java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-Djava.security.egd=file:/dev/urandom",
		"-Dorg.apache.commons.logging.Log=org.apache.commons.logging.impl.NoOpLog", "-cp", classPath, "Bursts"}
}

// slowServer answers after burstAnswer, and ends what was idle for burstTimeout: Go's own server, or nginx before it.
func slowServer(t *testing.T, name string) string {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(burstAnswer)
		_, _ = w.Write([]byte(twoDays))
	})
	server := &http.Server{Handler: handler, IdleTimeout: burstTimeout, ReadHeaderTimeout: 5 * time.Second}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t, nil, "127.0.0.1"))))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	if name == "go" {
		return "http://" + listener.Addr().String() + "/calendar"
	}
	dir, port := worldDir(t), freePort(t, nil, "127.0.0.1")
	conf := nginxConfig(t, dir, burstTimeout, fmt.Sprintf("listen 127.0.0.1:%d; location / { proxy_pass http://%s; }", port, listener.Addr()))
	run(t, nil, "nginx", exec.Command("nginx", "-p", dir, "-c", conf))
	peer := Peer{Name: "nginx", Addr: fmt.Sprintf("127.0.0.1:%d", port), Port: uint16(port), URL: fmt.Sprintf("http://127.0.0.1:%d/calendar", port)}
	awaitAnswer(t, nil, peer)
	return peer.URL
}
