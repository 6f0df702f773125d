package diagnose

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestRulingsNeverContradict judges random observations: whatever was measured,
// the six agree with each other, with the message and with the advice, and
// every sentence is whole.
func TestRulingsNeverContradict(t *testing.T) {
	runs := 3_000
	if testing.Short() {
		runs = 300
	}
	seen, words := map[string]int{}, newReader()
	for seed := range runs {
		in := dice{rand.New(rand.NewPCG(uint64(seed), 7))}.input()
		for i, o := range Judge(in) {
			for _, fault := range append(contradictions(in, o), words.sayings(o)...) {
				if seen[fault.kind]++; seen[fault.kind] == 1 {
					t.Errorf("seed %d, outcome %d: %s: %s\n%s %s %s: %s\n%s\n  %s", seed, i, fault.kind, fault.text,
						o.Reason, o.Verdict, o.Diagnosis, o.Message, sentences(o), strings.Join(o.Advice, "\n  "))
				}
			}
		}
	}
	for kind, n := range seen {
		t.Logf("%s: %d times", kind, n)
	}
}

type fault struct{ kind, text string }

func contradictions(in Input, o probes.Outcome) []fault {
	var faults []fault
	never := func(bad bool, kind string, detail ...any) {
		if bad {
			faults = append(faults, fault{kind, fmt.Sprint(detail...)})
		}
	}
	never(o.ClosedBy == "peer" && o.Path.TCPEnds == probes.TCPEndsBeforePeer, "closed by the peer behind a proxy")
	if o.Verdict == probes.VerdictPass {
		never(len(o.Hypotheses) > 0, "a pass with hypotheses")
		return faults
	}
	never(len(o.Hypotheses) != 6, "not six hypotheses", len(o.Hypotheses))
	api, path, own := hypothesis(o, "api_down"), hypothesis(o, "path_blocks"), hypothesis(o, "own_pod")
	pool, gap := hypothesis(o, "stale_pool"), hypothesis(o, "retry_gap")
	isOwn := o.Diagnosis == probes.DiagnosisOwnPod
	never(isOwn && own.Ruled != probes.RuledIn, "held up, and own_pod is not in", own.Evidence)
	never(!isOwn && own.Ruled == probes.RuledIn, "own_pod in, and the diagnosis is another", own.Evidence)
	never(isOwn && api.Ruled == probes.RuledIn, "held up, and api_down in", api.Evidence)
	never(isOwn && path.Ruled == probes.RuledIn, "held up, and path_blocks in", path.Evidence)
	never(isOwn && pool.Ruled == probes.RuledIn, "held up, and stale_pool in", pool.Evidence)
	never(isOwn && gap.Ruled != probes.RuledOpen, "held up, and retry_gap not open", gap.Ruled, gap.Evidence)

	var control, reuse *probes.Attempt
	for i := range o.Attempts {
		switch a := &o.Attempts[i]; a.Connection {
		case probes.ConnectionControl:
			control = a
		case probes.ConnectionReused:
			reuse = a
		case probes.ConnectionFresh:
		}
	}
	worked := control != nil && answered(control)
	never(worked && api.Ruled != probes.RuledOut, "the control worked, and api_down is not out", api.Ruled, api.Evidence)
	never(api.Ruled == probes.RuledIn && pool.Ruled == probes.RuledIn, "api_down and stale_pool both in")
	never(o.Path.TCPEnds == probes.TCPEndsBeforePeer && path.Ruled != probes.RuledOpen && o.Reason != probes.ReasonNoKeepAlive && o.Reason != probes.ReasonSlow,
		"path_blocks ruled behind a proxy", path.Ruled, path.Evidence)
	never(reuse == nil && pool.Ruled != probes.RuledOut && o.Reason != "internal", "a fresh connection in a pool", pool.Ruled, pool.Evidence)
	never(pool.Ruled == probes.RuledOut && reuse != nil && reuse.Queued && !instantOrMass(o) && control != nil && control.Status > 0 && control.Reason != probes.ReasonUnavailable, "stale_pool out though it was closed while idle, and a fresh one was answered", pool.Evidence)
	never(pool.Ruled == probes.RuledIn && reuse.Status > 0 && !reuse.Reason.Closed(), "stale_pool in though the connection carried an answer", pool.Evidence)

	for _, h := range o.Hypotheses {
		named := h.ID == "retry_gap" || strings.Contains(h.Evidence, "declared)") || strings.Contains(h.Evidence, "refused one more")
		never(!named && !strings.ContainsAny(h.Evidence, "0123456789"), "no number in "+string(h.ID), h.Evidence)
	}
	faults = append(faults, retries(in, o, gap)...)
	return faults
}

func instantOrMass(o probes.Outcome) bool {
	return o.Diagnosis == probes.DiagnosisMassClose || o.Diagnosis == probes.DiagnosisUndeclaredClose
}

// retries: retry_gap says what Retry.Application says, and the advice never adds
// a retry of what may have been executed without saying so.
func retries(in Input, o probes.Outcome, gap probes.Hypothesis) []fault {
	var faults []fault
	cover := o.Retry.Application
	want := map[probes.RetryCover][]probes.Ruling{
		probes.CoverCovered:   {probes.RuledOut},
		probes.CoverUnsafe:    {probes.RuledOut},
		probes.CoverUncovered: {probes.RuledIn},
		probes.CoverUnknown:   {probes.RuledOpen},
		"":                    {probes.RuledOut},
	}[cover]
	if o.Retry.Hidden || o.Diagnosis == probes.DiagnosisOwnPod {
		want = []probes.Ruling{probes.RuledOut, probes.RuledOpen, gap.Ruled}
	}
	if !slices.Contains(want, gap.Ruled) {
		faults = append(faults, fault{fmt.Sprintf("retry_gap %s and the application's retry %q", gap.Ruled, cover), gap.Evidence})
	}
	for _, advice := range o.Advice {
		adds := strings.Contains(advice, "Add `") || strings.Contains(advice, "send again") || strings.Contains(advice, "make 2 attempts")
		if adds && !strings.Contains(advice, "executed") && !strings.Contains(advice, "idempotent") {
			faults = append(faults, fault{"a retry is advised without a warning", advice})
		}
	}
	return faults
}

// reader knows what no sentence holds. Each form is an expression of its own: one
// that begins with fixed letters is found many times as fast as among others.
type reader struct {
	broken        []*regexp.Regexp
	quotedOrNamed *regexp.Regexp
}

func newReader() reader {
	r := reader{quotedOrNamed: regexp.MustCompile("`[^`]*`|\\.NET|[\\w.]+\\([^ ]*\\)[^ ]*")}
	for _, form := range []string{
		`  `, `\(\)`, `\( `, `%!`, `-\d`, `NaN`, `Inf`, ` [.,;:](\s|$)`, `,,`, `;;`, `,;`, `[^.]\.\.([^.]|$)`, `: *$`, `; *$`,
		`\b1 (answers|requests|attempts|bytes)\b`, `answered 0`, `answer 0\b`, `below 0 ms`, `after 0 ms`, `above 0 ms`, `than 0 ms`,
		` (and|of|after|the|while) *$`,
	} {
		r.broken = append(r.broken, regexp.MustCompile(form))
	}
	return r
}

// sayings: every sentence is whole, and every number can be.
func (r reader) sayings(o probes.Outcome) []fault {
	texts := append([]string{o.Message}, o.Advice...)
	for _, h := range o.Hypotheses {
		texts = append(texts, h.Evidence)
	}
	var faults []fault
	for _, s := range texts {
		if s == "" {
			faults = append(faults, fault{"an empty sentence", ""})
		}
		s = r.quotedOrNamed.ReplaceAllString(s, "x")
		for _, form := range r.broken {
			if found := form.FindString(s); found != "" {
				faults = append(faults, fault{fmt.Sprintf("broken words %q", found), s})
			}
		}
	}
	return faults
}
