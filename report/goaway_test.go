package report

import (
	"testing"
	"time"

	"perch.example/probes"
)

// What a GOAWAY says is told in the rung's line: an error's code by its name.
func TestGoawaySaid(t *testing.T) {
	for want, g := range map[string]*probes.Goaway{
		"": {Debug: "words of its own"}, " INTERNAL_ERROR": {Code: 2}, " max_age": {Debug: "max_age"}, " ENHANCE_YOUR_CALM": {Code: 11, Debug: "too_many_pings"},
	} {
		o := &probes.Outcome{ClosedBy: "peer", Close: &probes.Close{How: probes.HowGoaway, Age: 2e9}, Attempts: []probes.Attempt{
			{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleGoaway, Goaway: g},
		}}
		if got := idleCell(o).text; got != "GOAWAY"+want+" by peer at 2 s" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A server that ends connections at an age of theirs is told with the ladder.
func TestAgesWords(t *testing.T) {
	at := func(ages ...time.Duration) (v probeView) {
		for _, a := range ages {
			v.outcomes = append(v.outcomes, &probes.Outcome{EndsAtAge: a})
		}
		return v
	}
	for want, v := range map[string]probeView{
		"": at(0, 0),
		"; the server ends connections at the age of 30 s, idle or not":         at(0, 30*time.Second),
		"; the server ends connections at the age of 28 s to 31 s, idle or not": at(31*time.Second, 28*time.Second),
	} {
		if got := agesWords(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A connection that carried nothing before spoke what its only request did.
func TestUnusedRungsSayWhatTheySpoke(t *testing.T) {
	o := &probes.Outcome{Unused: true, Attempts: []probes.Attempt{{Connection: probes.ConnectionReused, Reason: probes.ReasonOK, Proto: "HTTP/2.0"}}}
	if got := heldOver(o, idleCell(o)).text; got != "stayed open, HTTP/2" {
		t.Errorf("%q", got)
	}
}
