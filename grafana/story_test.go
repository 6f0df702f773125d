package grafana

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"perch.example/diagnose"
	"perch.example/metrics"
	"perch.example/probes"
)

// The story is a day of a perch that is pushed every five minutes. What it
// makes up are observations; they are judged and counted as perch does it. At
// ten in the morning a load balancer begins to end idle connections after 20
// s, where 60 s were promised, and that is how it is when the pictures are
// taken, at four in the afternoon.

const (
	ms      = time.Millisecond
	between = 5 * time.Minute
	lasts   = 24 * time.Hour
)

// dawn is when the story begins.
func dawn() time.Time { return time.Date(2026, 11, 23, 16, 0, 0, 0, time.UTC) }

// hour is a time of the story's own day.
func hour(h float64) time.Time {
	return time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC).Add(time.Duration(h * float64(time.Hour)))
}

// story are the times at which its runs end.
func story() []time.Time {
	var all []time.Time
	for at := dawn(); at.Before(dawn().Add(lasts)); at = at.Add(between) {
		all = append(all, at)
	}
	return all
}

// teller plays the story.
type teller struct {
	metrics    *metrics.Metrics
	calendar   probes.Spec
	held       probes.Spec
	rates      probes.Spec
	random     *rand.Rand
	failedHold int // runs in a row in which held connections failed
	failedRate int
}

// storyEnd is what perch exposes after the story's last n runs.
func storyEnd(t testing.TB, n int) *metrics.Metrics {
	t.Helper()
	s, all := newTeller(), story()
	for _, at := range all[len(all)-n:] {
		s.run(at)
	}
	return s.metrics
}

func newTeller() *teller {
	client := &probes.Client{
		Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate",
		MaxIdle: probes.Limit{Mode: probes.LimitAfter, After: 50 * time.Second}, ValidateAfter: probes.Limit{Mode: probes.LimitNone},
		AutomaticRetries: probes.SwitchNone,
		Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{
			"org.springframework.web.client.HttpServerErrorException", "org.springframework.web.client.ResourceAccessException",
		}},
	}
	stock := &url.URL{Scheme: "https", Host: "api.partner.example", Path: "/v1/calendar"}
	rates := &url.URL{Scheme: "https", Host: "rates.example", Path: "/latest.json"}
	s := &teller{
		random: rand.New(rand.NewPCG(11, 23)),
		calendar: probes.Spec{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Method: "GET", Every: between, URL: stock,
			Retry: probes.Retry{Attempts: 2, Backoff: 200 * ms}, Client: client},
		held: probes.Spec{Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Method: "GET", Every: between, URL: stock,
			KeepAlive: time.Minute, Holds: []time.Duration{1500 * ms, 15 * time.Second, 30 * time.Second, 45 * time.Second, 90 * time.Second}, Client: client},
		rates: probes.Spec{Target: "rates", Probe: "latest", Kind: probes.KindHTTP, Method: "GET", Every: between, URL: rates,
			Retry: probes.Retry{Attempts: 2, Backoff: 200 * ms}},
	}
	s.metrics = metrics.New(metrics.Options{
		Name: "shop", Vantage: "prod-tokyo", Version: "0.2.0", GoVersion: "go1.26", Revision: "4e4e3b2",
		Destinations: []string{"slack", "webhook"}, BlackboxNames: true, Serves: true,
		Targets: []probes.Target{
			{Name: "stock-api", URL: stock, RateLimit: 2, Share: 0.05, Client: client, Probes: []probes.Spec{s.calendar, s.held}},
			{Name: "rates", URL: rates, RateLimit: 1, Share: 0.02, Probes: []probes.Spec{s.rates}},
		},
	})
	return s
}

// run is one run, which ends then.
func (s *teller) run(at time.Time) {
	if at.After(hour(3)) && at.Before(hour(3.4)) { // the node was drained, and no Pod found room
		return
	}
	s.metrics.Leads(true) // as a perch serve says it, whose dashboards are these, too
	s.metrics.Reloaded(at.Before(hour(12)) || at.After(hour(12.7)), at)
	took := time.Duration((116 + 2*s.random.Float64()) * float64(time.Second))
	run := probes.Run{Name: "shop", Vantage: "prod-tokyo", Started: at.Add(-took), Finished: at}
	run.Outcomes = append(s.http(s.calendar, at, s.stockAnswer), s.http(s.rates, at, s.ratesAnswer)...)
	outcomes, idle := s.ladder(at)
	run.Outcomes, run.Idle = append(run.Outcomes, outcomes...), []probes.IdleResult{idle}
	sent := map[string]int{}
	for _, o := range run.Outcomes {
		sent[o.Target] += len(o.Attempts)
	}
	for _, t := range []string{"stock-api", "rates"} {
		run.Budget = append(run.Budget, probes.BudgetUse{Target: t, Requests: sent[t]})
	}
	if at.Equal(hour(3.5)) {
		run.CutShort = "its deadline"
		s.metrics.Missed(s.held.Target, s.held.Probe, 1)
		run.Problems = []probes.Problem{{Part: probes.PartState, Text: "the state's Lease was taken"}}
	}
	for range 40 {
		stall := time.Duration(math.Exp(s.random.NormFloat64()) * float64(80*time.Microsecond))
		if at.After(hour(3.4)) && at.Before(hour(4)) {
			stall += time.Duration(s.random.Float64() * float64(40*ms))
		}
		run.Delays = append(run.Delays, stall)
	}
	s.metrics.Observe(run)
	s.tell(at)
}

// tell opens what failed in two runs, and delivers: the webhook is broken for
// an hour and a half before the pictures are taken.
func (s *teller) tell(at time.Time) {
	s.metrics.IncidentsKnown()
	s.metrics.SetIncident("stock-api", probes.FamilyConnection, s.failedHold >= 2)
	s.metrics.SetIncident("rates", probes.FamilyReachability, s.failedRate >= 2)
	broken, since := at.After(hour(14.5)), hour(14.5)
	if s.failedHold == 2 || s.failedRate == 2 || at.Equal(hour(15)) {
		s.metrics.Notices("slack", true)
	}
	if broken {
		s.metrics.Notices("webhook", false)
		s.metrics.Pending("webhook", 1+int(at.Sub(since)/(30*time.Minute)), since)
	} else {
		s.metrics.Pending("webhook", 0, time.Time{})
	}
	s.metrics.Pending("slack", 0, time.Time{})
}

// http judges one exchange, and its second try where the first failed.
func (s *teller) http(spec probes.Spec, at time.Time, answer func(at time.Time, again bool) probes.Attempt) []probes.Outcome {
	attempts := []probes.Attempt{answer(at, false)}
	if !attempts[0].OK() {
		attempts = append(attempts, answer(at, true))
	}
	for i := range attempts {
		attempts[i].Number, attempts[i].Started = i+1, at.Add(time.Duration(i)*time.Second-3*time.Second)
	}
	outcomes := s.judge(spec, at, probes.Observation{Started: attempts[0].Started, Ended: at, Attempts: attempts})
	if spec.Target == "rates" {
		s.failedRate = counted(outcomes, s.failedRate)
	}
	return outcomes
}

// stockAnswer: slower when the shops open, now and then lost.
func (s *teller) stockAnswer(at time.Time, again bool) probes.Attempt {
	took := 90*ms + time.Duration(s.random.ExpFloat64()*float64(25*ms))
	if h := at.Sub(hour(0)).Hours(); h > 9 && h < 18 {
		took += time.Duration(s.random.ExpFloat64() * float64(60*ms))
	}
	reason := probes.ReasonOK
	if !again && s.random.Float64() < 0.03 {
		reason = probes.ReasonReset
	}
	return s.attempt(probes.ConnectionFresh, reason, took)
}

// ratesAnswer: a bad deploy between seven and eight, mended by a second try or
// not.
func (s *teller) ratesAnswer(at time.Time, again bool) probes.Attempt {
	took := 18*ms + time.Duration(s.random.ExpFloat64()*float64(6*ms))
	ill := at.After(hour(7)) && at.Before(hour(7.8))
	if ill && (!again || s.random.Float64() < 0.6) {
		a := s.attempt(probes.ConnectionFresh, probes.ReasonUnavailable, took)
		a.Status = 503
		return a
	}
	return s.attempt(probes.ConnectionFresh, probes.ReasonOK, took)
}

// ladder holds connections, which are ended after the path's idle timeout.
func (s *teller) ladder(at time.Time) ([]probes.Outcome, probes.IdleResult) {
	timeout := time.Minute
	if at.After(hour(10)) {
		timeout = 20 * time.Second
	}
	var seen []probes.Observation
	for i, hold := range s.held.Holds {
		start := at.Add(time.Duration(i)*6*time.Second - 96*time.Second)
		warm := s.attempt(probes.ConnectionFresh, probes.ReasonOK, 95*ms+time.Duration(s.random.ExpFloat64()*float64(20*ms)))
		reused := s.attempt(probes.ConnectionReused, probes.ReasonOK, 60*ms+time.Duration(s.random.ExpFloat64()*float64(12*ms)))
		warm.Number, warm.Started = 1, start
		o := probes.Observation{Hold: hold, Started: start, Ended: start.Add(hold + time.Second)}
		if hold > timeout {
			reused = s.attempt(probes.ConnectionReused, probes.ReasonIdleFIN, ms/3)
			nothing := int64(0)
			reused.Queued, reused.RequestBytesAcked, reused.Status = true, &nothing, 0
			age := timeout + time.Duration(s.random.Float64()*float64(8*ms))
			o.Close = &probes.Close{Age: age, AfterReply: age, At: start.Add(warm.Elapsed + age), How: probes.HowFIN, Resolution: ms / 10}
		}
		reused.Number, reused.Started, reused.IdleTime, reused.Served = 2, start.Add(warm.Elapsed+hold), hold, 1
		o.Attempts = []probes.Attempt{warm, reused}
		if !reused.OK() {
			control := s.attempt(probes.ConnectionControl, probes.ReasonOK, 100*ms+time.Duration(s.random.ExpFloat64()*float64(20*ms)))
			control.Number, control.Started = 3, reused.Started.Add(2*ms)
			o.Attempts = append(o.Attempts, control)
		}
		seen = append(seen, o)
	}
	outcomes := s.judge(s.held, at, seen...)
	s.failedHold = counted(outcomes, s.failedHold)
	idle := diagnose.Idle(diagnose.Input{Spec: s.held, Observations: seen})
	idle.Advertised = 65 * time.Second
	return outcomes, idle
}

func (s *teller) judge(spec probes.Spec, at time.Time, seen ...probes.Observation) []probes.Outcome {
	for i := range seen {
		seen[i].Target, seen[i].Probe, seen[i].Kind = spec.Target, spec.Probe, spec.Kind
		seen[i].Path = probes.Path{TCPEnds: probes.TCPEndsPeer}
	}
	expires := hour(24 * 64)
	if spec.Target == "rates" {
		expires = hour(24 * 27)
	}
	for _, o := range seen {
		for i := range o.Attempts {
			o.Attempts[i].TLSExpiry = expires
		}
	}
	return diagnose.Judge(diagnose.Input{Spec: spec, Observations: seen, Now: at, Last: diagnose.Last{Seen: true}})
}

// counted is how many runs in a row failed.
func counted(outcomes []probes.Outcome, before int) int {
	for _, o := range outcomes {
		if o.Verdict == probes.VerdictFail {
			return before + 1
		}
	}
	return 0
}

// attempt is one exchange that took so long, by a perch that nothing held up.
func (s *teller) attempt(c probes.Connection, r probes.Reason, took time.Duration) probes.Attempt {
	acked := int64(231)
	a := probes.Attempt{
		Connection: c, Reason: r, Method: "GET", Elapsed: took, RTT: 17 * ms, MinRTT: 16 * ms,
		RequestBytes: acked, RequestBytesAcked: &acked, Delay: ms / 10, DelayKnown: true,
		Local: netip.MustParseAddrPort("10.0.4.17:43122"), Remote: netip.MustParseAddrPort("192.0.2.10:443"),
	}
	if c != probes.ConnectionReused {
		vary := func(d time.Duration) time.Duration { return d + time.Duration(s.random.ExpFloat64()*float64(d)/5) }
		a.Phases = probes.Phases{DNS: vary(3 * ms), Connect: vary(17 * ms), TLS: vary(36 * ms)}
	}
	if r != probes.ReasonOK {
		a.Own = &probes.OwnPod{ThrottledKnown: true, Descriptors: probes.Usage{Used: 23, Limit: 1024}, Ports: probes.Usage{Used: 14, Limit: 28232}}
		return a
	}
	a.Status, a.Proto, a.ResponseBytes = 200, "HTTP/1.1", 1874
	a.Phases.Wait, a.Phases.Transfer = took*9/10, took/10
	return a
}
