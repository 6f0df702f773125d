package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/calls"
	"perch.example/diagnose/clients"
	"perch.example/probes"
)

func shaped(every time.Duration) Input {
	in := closesInGap().input(0)
	in.Spec.Burst = &probes.Shape{Requests: 20, Connections: 20, Bursts: 2, Gap: 1500 * time.Millisecond}
	in.Spec.Every, in.Spec.Client = every, &probes.Client{Kind: "apache-httpclient-4.5", AutomaticRetries: probes.SwitchNone}
	return in
}

// TestPredictTheDeclaredShape: of two bursts the second one meets what the first left.
func TestPredictTheDeclaredShape(t *testing.T) {
	in := shaped(0)
	times, ok := DeclaredTimes(in.Spec)
	got := Predict(in, IdlePath(in), times)
	if !ok || len(got) != 1 {
		t.Fatalf("%t, %+v", ok, got)
	}
	p := got[0]
	if p.Source != "the declared shape" || p.Calls != 40 || p.Dead != 20 || p.Failed != 20 || p.Fresh != 20 || p.Order != probes.PoolLIFO || p.Connections != 20 || p.Timeout != time.Second {
		t.Errorf("%+v", p)
	}
	if p.FailedShare() != 0.5 || p.BandShare() != 1 {
		t.Errorf("%v of the calls, %v of the gaps", p.FailedShare(), p.BandShare())
	}
}

// TestPredictRepeats: on a schedule what one run leaves idles until the next, where the client looks first.
func TestPredictRepeats(t *testing.T) {
	in := shaped(time.Minute)
	times, _ := DeclaredTimes(in.Spec)
	if got := Predict(in, IdlePath(in), times)[0]; got.Calls != 400 || got.Dead != 200 {
		t.Errorf("%+v", got)
	}
	in.Spec.Burst.Requests = 15_000
	if times, _ := DeclaredTimes(in.Spec); len(times.Calls) != mostShaped {
		t.Errorf("%d calls", len(times.Calls))
	}
	if _, ok := DeclaredTimes(probes.Spec{}); ok {
		t.Error("no burst, but its times")
	}
}

// TestPredictForCommonClients: where none is declared, those that would meet any.
func TestPredictForCommonClients(t *testing.T) {
	in := shaped(0)
	in.Spec.Client = nil
	times, _ := DeclaredTimes(in.Spec)
	for _, p := range Predict(in, IdlePath(in), times) {
		if p.Dead == 0 || clients.PoolOrder(p.Client) != p.Order {
			t.Errorf("%+v", p)
		}
	}
	if got := Predict(in, clients.Path{}, times); got != nil {
		t.Errorf("nothing was measured: %+v", got)
	}
}

// TestPredictFromALog: a call whose duration is not known takes as long as perch's own did.
func TestPredictFromALog(t *testing.T) {
	in := shaped(0)
	in.Spec.Burst, in.Spec.Pool = nil, 1
	log := CallTimes{Source: "access.log", Calls: []clients.Call{{Took: -1}, {At: 1143 * time.Millisecond, Took: time.Millisecond}, {At: 1300 * time.Millisecond, Took: -1}}}
	got := Predict(in, IdlePath(in), log) // an answer takes 142 ms: the second call comes 1.001 s after it
	if len(got) != 1 || got[0].Dead != 1 || got[0].Fresh != 2 || got[0].Source != "access.log" || got[0].Connections != 1 {
		t.Errorf("%+v", got)
	}
	if log.Calls[0].Took != -1 {
		t.Error("the caller's calls were changed")
	}
	if d := UsualTime(nil); d != 0 {
		t.Errorf("nothing was answered, in %s", d)
	}
}

// TestPredictFromALogOfFailures: how long calls took that failed says nothing of how long the one connection
// that lives is in use. Taken for that, it would be back for each next call of its burst, and none would fail.
func TestPredictFromALogOfFailures(t *testing.T) {
	var text strings.Builder
	line := func(at time.Duration, rest string) {
		fmt.Fprintf(&text, "%.6f %s\n", 1_772_445_600+at.Seconds(), rest)
	}
	for i := range 20 { // opens 20
		line(time.Duration(i)*time.Microsecond, "60ms")
	}
	at := time.Duration(0)
	for range 6 { // keeps one of them alive, for more than the second after which the rest is dead
		at += 250 * time.Millisecond
		line(at, "60ms")
	}
	at += 250 * time.Millisecond
	for i := range 20 {
		rest := "1ms failed"
		if i == 7 { // threads race: the first that came need not be the first in the pool
			rest = "60ms"
		}
		line(at+time.Duration(i)*200*time.Microsecond, rest)
	}
	log, err := calls.Read(strings.NewReader(text.String()), "calls.txt")
	if err != nil || log.Failed != 19 || log.Took != 60*time.Millisecond {
		t.Fatalf("%d failed, %s a call, %v", log.Failed, log.Took, err)
	}
	in := shaped(0)
	in.Spec.Burst, in.Spec.Pool = nil, 20
	got := Predict(in, IdlePath(in), CallTimes{Source: "calls.txt", Calls: log.Calls})
	if len(got) != 1 || got[0].Failed != 19 || got[0].Calls != 46 {
		t.Errorf("%+v", got)
	}
}
