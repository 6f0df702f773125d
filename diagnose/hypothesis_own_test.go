package diagnose

import (
	"testing"
	"time"

	"perch.example/probes"
)

// own gives the i-th attempt what was measured of perch's own pod meanwhile.
func own(in Input, i int, change func(*probes.Attempt, *probes.OwnPod)) Input {
	a := &in.Observations[0].Attempts[i]
	a.Own = &probes.OwnPod{
		ThrottledKnown: true,
		Descriptors:    probes.Usage{Used: 23, Limit: 1024}, Ports: probes.Usage{Used: 14, Limit: 28232},
	}
	change(a, a.Own)
	return in
}

// spentOn is a connect that failed for want of that.
func spentOn(r probes.Resource, used, limit int) Input {
	return own(httpInput("connect_failed"), 0, func(_ *probes.Attempt, o *probes.OwnPod) {
		o.Exhausted = r
		if r == probes.ResourcePorts {
			o.Ports = probes.Usage{Used: used, Limit: limit}
			return
		}
		o.Descriptors = probes.Usage{Used: used, Limit: limit}
	})
}

func aboutOwnPod() []hypothesisCase {
	const s, ms = time.Second, time.Millisecond
	silent := func(change func(*probes.Attempt, *probes.OwnPod)) Input {
		return own(one(rungAt(0, 30*s, "no_response").reuse(func(a *probes.Attempt) { a.Elapsed = 5 * s })), 1, change)
	}
	unseen := httpInput("refused")
	unseen.Observations[0].Attempts[0].DelayKnown = false
	const rest = "; perch's own: 23 of 1024 file descriptors, 14 of 28232 local ports in use"
	return []hypothesisCase{
		{"all well below", own(one(rungAt(0, 30*s, "eof")), 1, func(*probes.Attempt, *probes.OwnPod) {}), "own_pod", "out", "it happens without a busy pod too: perch was delayed by at most 0.4 ms, throttled for 0 ms" + rest},
		{"no cgroup tells", own(one(rungAt(0, 30*s, "eof")), 1, func(_ *probes.Attempt, o *probes.OwnPod) { o.ThrottledKnown = false }), "own_pod", "out", "it happens without a busy pod too: perch was delayed by at most 0.4 ms" + rest},
		{"only its stalls were measured", own(unseen, 0, func(_ *probes.Attempt, o *probes.OwnPod) { o.Stalled = 2 * ms }), "own_pod", "out", "no stall makes this failure; perch itself stood still for at most 2 ms, throttled for 0 ms" + rest},
		{"refused while it stood still", own(unsure(), 0, func(_ *probes.Attempt, o *probes.OwnPod) { o.Stalled = 1452 * ms }), "own_pod", "out", "no stall makes this failure; perch itself stood still for at most 1.452 s, throttled for 0 ms" + rest},
		{"refused while it stood still: the API", own(unsure(), 0, func(_ *probes.Attempt, o *probes.OwnPod) { o.Stalled = 1452 * ms }), "api_down", "in", "a fresh connection failed after 142 ms: the connection was refused"},
		{"nothing was measured", unsure(), "own_pod", "open", "perch's own delay could not be measured here; the attempt took 142 ms"},
		{"looked late", silent(func(a *probes.Attempt, o *probes.OwnPod) {
			a.Delay, a.WokeLate, a.Waited, o.Throttled = 5*s, 12*ms, 5*s, 4*s
		}), "own_pod", "in", "perch itself was delayed by 5 s, and the failure took 5 s (woke 12 ms late, what came had waited for 5 s, throttled for 4 s by its CPU quota)"},
		{"stood still while a timeout passed", silent(func(_ *probes.Attempt, o *probes.OwnPod) { o.Stalled = 5 * s }), "own_pod", "in", "perch itself was delayed by 5 s, and the failure took 5 s (stood still for 5 s)"},
		{"a stall that a close did not wait for", own(one(rungAt(0, 30*s, "eof")), 1, func(_ *probes.Attempt, o *probes.OwnPod) { o.Stalled = 80 * ms }), "own_pod", "out", "it happens without a busy pod too: perch was delayed by at most 0.4 ms, throttled for 0 ms" + rest},
		{"an answer that waited for us", own(answeredWith("slow", 200), 0, func(a *probes.Attempt, o *probes.OwnPod) {
			a.Elapsed, a.Delay, a.Waited, o.Throttled = 555*ms, 520*ms, 520*ms, 519*ms
		}), "own_pod", "in", "perch itself was delayed by 520 ms, and the failure took 555 ms (what came had waited for 520 ms, throttled for 519 ms by its CPU quota)"},
		{"an answer that was slow by itself", own(answeredWith("slow", 200), 0, func(a *probes.Attempt, _ *probes.OwnPod) { a.Elapsed, a.Delay = 555*ms, 200*ms }), "own_pod", "out", "it happens without a busy pod too: perch was delayed by at most 200 ms, throttled for 0 ms" + rest},
		{"throttled for as long, and seen", silent(func(a *probes.Attempt, o *probes.OwnPod) { a.Delay, o.Throttled = 3*s, 5*s }), "own_pod", "in", "perch itself was delayed by 5 s, and the failure took 5 s (throttled for 5 s by its CPU quota)"},
		{"throttled on other CPUs, and never late", silent(func(_ *probes.Attempt, o *probes.OwnPod) { o.Throttled = 5 * s }), "own_pod", "out", "it happens without a busy pod too: perch was delayed by at most 0.4 ms, throttled for 5 s" + rest},
		{"throttled, and nothing else is known", silent(func(a *probes.Attempt, o *probes.OwnPod) { a.DelayKnown, o.Throttled = false, 5*s }), "own_pod", "open", "perch was throttled for 5 s by its CPU quota, and the attempt took 5 s: too near to tell"},
		{"woke late, and the close had come long before", one(rungAt(0, 30*s, "idle_fin").closed(29500*ms, "fin").reuse(func(a *probes.Attempt) { a.Delay, a.WokeLate = 132*ms, 132*ms })), "own_pod", "out", "perch itself was delayed by at most 132 ms, and the FIN had come 500 ms before the reuse was due"},
		{"too near", silent(func(a *probes.Attempt, _ *probes.OwnPod) { a.Delay = 3 * s }), "own_pod", "open", "perch itself was delayed by 3 s, and the attempt took 5 s: too near to tell"},
		{"no descriptor left", spentOn(probes.ResourceDescriptors, 1024, 1024), "own_pod", "in", "file descriptors: 1024 of 1024 in use"},
		{"no port left", spentOn(probes.ResourcePorts, 28232, 28232), "own_pod", "in", "local ports: 28232 of 28232 in use"},
		{"none left, the limit is not known", spentOn(probes.ResourcePorts, 0, 0), "own_pod", "in", "local ports: the system refused one more"},
		{"near the limit", own(httpInput("connect_failed"), 0, func(_ *probes.Attempt, o *probes.OwnPod) { o.Descriptors.Used = 1000 }), "own_pod", "open", "1000 of 1024 file descriptors, 14 of 28232 local ports in use: near the end, though the system named another error"},
		{"far from the limit", own(httpInput("connect_failed"), 0, func(*probes.Attempt, *probes.OwnPod) {}), "own_pod", "out", "it happens without a busy pod too: perch was delayed by at most 0 ms, throttled for 0 ms" + rest},
		{"not counted", httpInput("connect_failed"), "own_pod", "open", "perch itself was delayed by at most 0 ms; whether ports or descriptors ran out is not measured"},
		{"spent: not the API", spentOn(probes.ResourceDescriptors, 1024, 1024), "api_down", "open", "nothing was asked of it: this pod had no more file descriptors: 1024 of 1024 in use"},
		{"spent: not the path", spentOn(probes.ResourceDescriptors, 1024, 1024), "path_blocks", "open", "no packet left: this pod had no more file descriptors: 1024 of 1024 in use"},
		{"delayed: not the API", own(httpInput("no_response"), 0, func(a *probes.Attempt, _ *probes.OwnPod) { a.Delay = 142 * ms }), "api_down", "open", "a fresh connection failed after 142 ms, while perch itself was delayed by 142 ms"},
	}
}

func unsure() Input {
	in := httpInput("refused")
	in.Observations[0].Attempts[0].DelayKnown = false
	return in
}

// TestSpent: what perch's own pod lacked is never the API's failure, on
// whichever connection it shows.
func TestSpent(t *testing.T) {
	spend := func(a *probes.Attempt) {
		a.Own = &probes.OwnPod{Exhausted: probes.ResourceDescriptors, Descriptors: probes.Usage{Used: 64, Limit: 64}}
	}
	control := rungAt(0, 30*time.Second, "idle_fin").closed(20*time.Second, "fin").control("connect_failed")
	spend(&control.o.Attempts[2])
	warm := rungAt(0, 30*time.Second, "ok").warmed(func(a *probes.Attempt) { a.Reason, a.Status = "connect_failed", 0; spend(a) })
	warm.o.Attempts = warm.o.Attempts[:1]
	again := httpInput("connect_failed", "ok")
	spend(&again.Observations[0].Attempts[0])
	for name, in := range map[string]Input{
		"fresh": spentOn(probes.ResourceDescriptors, 64, 64), "control": one(control), "warm-up": one(warm), "again ok": again,
	} {
		o := judgeOne(t, in, 0)
		if o.Verdict != probes.VerdictIncomplete || o.Diagnosis != probes.DiagnosisOwnPod || o.Family != probes.FamilyOwn {
			t.Errorf("%s: %s %s %s, want incomplete own_pod own", name, o.Verdict, o.Diagnosis, o.Family)
		}
		if want := "perch's own pod could not open a connection (file descriptors: 64 of 64 in use): nothing can be said of the API"; o.Message != want {
			t.Errorf("%s: message\n %q, want\n %q", name, o.Message, want)
		}
	}
}
