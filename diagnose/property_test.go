package diagnose

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// randomLadder makes up to five rungs of anything.
func randomLadder(r *rand.Rand) Input {
	pick := func(n int) int { return r.IntN(n) }
	hows := []probes.HowClosed{"fin", "rst", "bytes", "close_notify", "silent"}
	var rungs []*build
	for range 1 + pick(5) {
		reason := probes.Reasons()[pick(len(probes.Reasons()))]
		b := rungAt(time.Duration(pick(20))*time.Second, time.Duration(1+pick(130))*time.Second, reason)
		if pick(2) == 0 {
			b.closed(time.Duration(1+pick(70_000))*time.Millisecond, hows[pick(len(hows))])
		}
		if reason != probes.ReasonOK && pick(3) == 0 {
			b.control(probes.Reasons()[pick(len(probes.Reasons()))])
		}
		b.reuse(func(a *probes.Attempt) {
			a.Delay = time.Duration(pick(100)) * time.Millisecond
			a.Elapsed = time.Duration(pick(5000)) * time.Millisecond
			a.DelayKnown = pick(3) > 0
		})
		rungs = append(rungs, b)
	}
	in := idleInput([]time.Duration{0, 10 * time.Second, time.Minute}[pick(3)], rungs...)
	if pick(2) == 0 {
		in.Last.EarlyCloses = map[time.Duration]time.Duration{time.Duration(pick(130)) * time.Second: time.Duration(pick(60)) * time.Second}
	}
	return in
}

func randomClient(r *rand.Rand) *probes.Client {
	kinds := clients.Kinds()
	c := &probes.Client{
		Kind:          kinds[r.IntN(len(kinds))],
		MaxIdle:       probes.Limit{Mode: probes.LimitNone},
		ValidateAfter: probes.Limit{Mode: probes.LimitNone},
	}
	switch r.IntN(3) {
	case 0:
		c.AutomaticRetries = probes.SwitchNone
	case 1:
		c.Retry = &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{"java.io.IOException"}}
	}
	return c
}

// TestLadders checks on random ladders: outcomes are whole, they do not depend
// on the order of the observations, and a client only makes them worse, and
// only where a close follows idle age.
func TestLadders(t *testing.T) {
	worst := []probes.Verdict{probes.VerdictPass, probes.VerdictDegraded, probes.VerdictFail}
	made := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		in := randomLadder(r)
		plain := Judge(in)
		for i, o := range plain {
			if o.Verdict != probes.VerdictPass {
				allSix(t, fmt.Sprintf("seed %d, rung %d", seed, i), o)
			}
			if o.Message == "" || o.Reason == "" || !slices.Contains(probes.Verdicts(), o.Verdict) {
				t.Fatalf("seed %d: %+v", seed, o)
			}
		}
		shuffled := in
		shuffled.Observations = slices.Clone(in.Observations)
		slices.Reverse(shuffled.Observations)
		if got := Judge(shuffled); !sameJudgement(plain, got) {
			t.Fatalf("seed %d: the order of the observations changes the outcome", seed)
		}
		in.Spec.Client = randomClient(r)
		for i, o := range Judge(in) {
			before := plain[i]
			if o.Verdict == before.Verdict {
				continue
			}
			made++
			if slices.Index(worst, o.Verdict) <= slices.Index(worst, before.Verdict) {
				t.Errorf("seed %d: a client turns %s into %s", seed, before.Verdict, o.Verdict)
			}
			if o.Diagnosis != probes.DiagnosisEarlyClose && o.Diagnosis != probes.DiagnosisStaleConnection {
				t.Errorf("seed %d: a client judges %s", seed, o.Diagnosis)
			}
		}
	}
	if made == 0 {
		t.Error("no client made anything worse: the test shows nothing")
	}
}

// sameJudgement compares outcomes regardless of the order among rungs that
// were held and started alike.
func sameJudgement(a, b []probes.Outcome) bool {
	keys := func(outcomes []probes.Outcome) map[string]int {
		m := map[string]int{}
		for _, o := range outcomes {
			m[fmt.Sprint(o.Hold, o.Started, o.Verdict, o.Reason, o.Diagnosis, o.Message)]++
		}
		return m
	}
	return reflect.DeepEqual(keys(a), keys(b))
}
