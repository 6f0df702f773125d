package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// refused is a run whose targets asked, before it or in it, to be left alone.
func refused(verdicts ...probes.Verdict) probes.Run {
	run := probes.Run{Started: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	for n, v := range verdicts {
		target := fmt.Sprintf("api-%d", n+1)
		o := probes.Outcome{Target: target, Probe: "get", Kind: probes.KindHTTP, Verdict: v, Reason: probes.ReasonOK}
		use := probes.BudgetUse{Target: target, LimitPerSecond: 1}
		if v == probes.VerdictSkipped {
			o.Reason, o.Message = probes.ReasonSkipped, "not judged: the API asked to be left alone until 2026-03-01T09:40:00Z (Retry-After)"
			use.LeaveAlone = run.Started.Add(40 * time.Minute)
		}
		run.Outcomes, run.Budget = append(run.Outcomes, o), append(run.Budget, use)
	}
	return run
}

// TestLeftAloneIsNoQuietPass: of what was not looked at, the last line says so.
func TestLeftAloneIsNoQuietPass(t *testing.T) {
	const skipped, pass = probes.VerdictSkipped, probes.VerdictPass
	used := refused(skipped)
	used.Budget[0].LeaveAlone = time.Time{} // its daily limit was used up
	over := refused(pass)
	over.Budget[0].LeaveAlone = over.Started.Add(time.Minute)
	for _, tt := range []struct {
		run  probes.Run
		want string // the last line; the headline has a colon
	}{
		{refused(skipped), "SKIPPED  1 of 1 probe skipped · left alone as asked (Retry-After): api-1 until 09:40 UTC · seed 0"},
		{refused(pass, skipped), "PASS  1 of 2 probes passed, 1 skipped · left alone as asked (Retry-After): api-2 until 09:40 UTC · seed 0"},
		{refused(skipped, skipped, skipped, skipped), "SKIPPED  4 of 4 probes skipped · left alone as asked (Retry-After): api-1 until 09:40 UTC, api-2 until 09:40 UTC, api-3 until 09:40 UTC, 1 more · seed 0"},
		{used, "SKIPPED  1 of 1 probe skipped · seed 0"},
		{over, "PASS  1 probe passed · seed 0"}, // asked at its end: nothing was left out
	} {
		whole := strings.Join(strings.Fields(text(t, tt.run, Style{Width: 300})), " ")
		if !strings.HasSuffix(whole, strings.Join(strings.Fields(tt.want), " ")) {
			t.Errorf("got  %s\nwant %s at its end", whole, tt.want)
		}
		word, _, _ := strings.Cut(tt.want, " ")
		if word == "SKIPPED" && !strings.HasPrefix(Headline(tt.run), "SKIPPED: ") {
			t.Errorf("the headline is %q", Headline(tt.run))
		}
	}
}

// TestLeftAloneInJSON: programs read it too, and not of what is long over.
func TestLeftAloneInJSON(t *testing.T) {
	run := refused(probes.VerdictSkipped, probes.VerdictPass)
	run.Budget[1].LeaveAlone = run.Started.Add(-time.Minute)
	var b strings.Builder
	if err := JSON(&b, run); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"left_alone_until": "2026-03-01T09:40:00Z"`) || strings.Count(b.String(), "left_alone_until") != 1 {
		t.Errorf("got %s", b.String())
	}
}
