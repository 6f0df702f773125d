package alert

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// kindNotices are a notice of each kind that is not an incident's plain
// opening or end, and of what makes those differ.
func kindNotices(t testing.TB) map[string]Notice {
	t.Helper()
	last := func(told [][]Notice) Notice {
		t.Helper()
		notices := told[len(told)-1]
		if len(notices) != 1 {
			t.Fatalf("the last run told %d notices, want 1: %s", len(notices), kinds(told))
		}
		return notices[0]
	}
	strict := func(n int) Options {
		o := options(n)
		o.FireAfter, o.ResolveAfter = 1, 1
		return o
	}
	all := map[string]Notice{"digest": digested(t), "test": Test(options(0), incident())}
	_, told := decideAll(spaced(24*time.Hour, func(o *Options) { o.RemindEvery = 24 * time.Hour }), incident(), incident(), incident())
	all["reminder"] = last(told)
	_, told = decideAll(options, incident(), incident(), silentDrop())
	all["sharper"] = last(told)
	_, told = decideAll(strict, incident(), mended(), incident(), mended(), incident())
	all["flapping"] = last(told)
	four := []string{"stock-api", "price-api", "tax-api", "mail-api"}
	_, told = decideAll(options, fleet(strings.Join(four, " "), four...), fleet(strings.Join(four, " "), four...))
	all["group"] = last(told)
	_, told = decideAll(options, fleet(strings.Join(four, " "), four...), fleet(strings.Join(four, " "), four...), fleet("", four...), fleet("", four...))
	all["group-resolved"] = last(told)
	_, told = decideAll(options, incident(), incident(), accepted(), accepted())
	all["accepted"] = last(told)
	_, told = decideAll(options, byClient(), byClient(), mended(), mended())
	all["by-client"] = last(told)
	_, told = decideAll(func(n int) Options {
		o := options(n)
		o.Known = []string{"stock-api/calendar-idle"}[:max(0, 1-n/2)]
		return o
	}, incident(), incident(), runOf())
	all["removed"] = last(told)
	m, _ := decideAll(options, incident(), incident())
	all["ongoing"] = Ongoing(m, incident(), options(2))[0]
	all["config-refused"] = reloaded(t, "perch.yaml:12: targets[0].probes[0].every: 5 is not a duration: want 5s, 5m or the like", "perch.yaml:31: stock-api: its probes would send 9000 requests a day, daily_limit is 5000: every 10m for stock-api/idle would fit")
	all["config-good"] = reloaded(t)
	all["backlog"], all["whole"] = backlogged(t), wholeReminder(t)
	copes := coping(probes.ClientNotices, "notices that it is dead and opens a new connection")
	_, told = decideAll(options, copes, copes)
	all["copes"] = last(told)
	slow := single("price-api", "quote", probes.VerdictFail, probes.DiagnosisSlow, probes.FamilyLatency)
	slow.Message = `a fresh connection failed after 350 ms: the answer was slower than expected (latency 350ms, want latency < duration("300ms"))`
	quick := single("price-api", "quote", probes.VerdictPass, "", "")
	_, told = decideAll(options, runOf(slow), runOf(slow), runOf(quick), runOf(quick))
	all["recovered"] = last(told)
	missing := single("price-api", "quote", probes.VerdictFail, probes.DiagnosisContract, probes.FamilyContract)
	m, _ = decideAll(options, runOf(slow), runOf(slow), runOf(missing))
	all["unjudged"] = Ongoing(m, at(runOf(missing), 2), options(2))[0]
	return all
}

// silentDrop is the incident after the peer's FINs stopped coming through.
func silentDrop() probes.Run {
	run := incident()
	for i := range run.Outcomes {
		o := &run.Outcomes[i]
		if o.Verdict == probes.VerdictFail {
			o.Diagnosis, o.Reason, o.Close, o.ClosedBy = probes.DiagnosisSilentDrop, probes.ReasonBlackhole, nil, ""
			o.Message = "the connection died without a sign while it was idle for 1.5 s; reuse failed in 5 s with nothing acknowledged; a fresh one worked"
			o.Client.Experiences = "throws java.net.SocketTimeoutException: Read timed out"
			o.Attempts = slices.Clone(o.Attempts)
			o.Attempts[1].Reason, o.Attempts[1].Elapsed = probes.ReasonBlackhole, 5*time.Second
			o.Advice = []string{"Set Apache HttpClient 4.5's idle limit below 1 s: no looking at the connection sees such an end."}
		}
	}
	return run
}

// accepted is the incident after its owner decided to live with it.
func accepted() probes.Run {
	run := incident()
	for i := range run.Outcomes {
		if run.Outcomes[i].Verdict == probes.VerdictFail {
			run.Outcomes[i].Accepted = march()
		}
	}
	return run
}

// byClient is a close as expected, which the client's own limit does not respect.
func byClient() probes.Run {
	run := incident()
	for i := range run.Outcomes {
		run.Outcomes[i].ByClient = run.Outcomes[i].Verdict == probes.VerdictFail
	}
	return run
}

// backlogged sums up a day's outage.
func backlogged(t testing.TB) Notice {
	t.Helper()
	var m Memory
	fail := func(target string, d probes.Diagnosis, f probes.Family) probes.Outcome {
		return single(target, "p", probes.VerdictFail, d, f)
	}
	pass := func(target string) probes.Outcome { return single(target, "p", probes.VerdictPass, "", "") }
	down, slow := fail("stock-api", probes.DiagnosisUnreachable, probes.FamilyReachability), fail("price-api", probes.DiagnosisSlow, probes.FamilyLatency)
	for n, run := range []probes.Run{runOf(pass("stock-api"), fail("tax-api", probes.DiagnosisCertificate, probes.FamilyCertificate)), runOf(down), runOf(slow, down), runOf(pass("stock-api"), pass("tax-api"))} {
		o := options(n)
		o.FireAfter, o.ResolveAfter = 1, 1
		m, _ = Decide(m, at(run, n), o)
		if n == 0 {
			m = m.told(m.Outbox[0].ID, "slack")
		}
		if n == 1 {
			m = m.untold(m.Outbox[0].ID, "slack", nil, true)
		}
	}
	o := options(0)
	o.Now = noon().Add(26 * time.Hour)
	_, due := Decide(m, runOf(), o)
	if len(due) != 1 {
		t.Fatalf("%d are due, want the backlog", len(due))
	}
	return due[0]
}

// TestEveryKindHasAGolden, so that nobody adds one whose looks are not kept.
func TestEveryKindHasAGolden(t *testing.T) {
	kept := map[Kind]bool{}
	for _, n := range goldenNotices(t) {
		kept[n.Kind] = true
	}
	for _, k := range []Kind{
		KindFiring, KindResolved, KindFlapping, KindSharper, KindReminder, KindOngoing, KindDigest, KindBacklog, KindTest, KindPreview,
	} {
		if !kept[k] {
			t.Errorf("no golden is %s", k)
		}
	}
}

// TestAResolveKeepsTheOutcomesWords: a close as expected was never too early.
func TestAResolveKeepsTheOutcomesWords(t *testing.T) {
	n := kindNotices(t)["by-client"]
	if want := "RESOLVED stock-api (the client keeps idle connections longer than the path does)"; n.Title != want {
		t.Errorf("%s, want %s", n.Title, want)
	}
}
