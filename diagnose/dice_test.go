package diagnose

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// dice makes random inputs of what can be met for real.
type dice struct{ *rand.Rand }

func (d dice) one(n int) bool { return d.IntN(n) == 0 }

// upTo is a time of any size up to most: short ones as often as long ones.
func (d dice) upTo(most time.Duration) time.Duration {
	for most > 1 && d.one(2) {
		most /= 8
	}
	return time.Duration(d.Int64N(int64(most) + 1))
}

func (d dice) reason(fits func(probes.Reason) bool) probes.Reason {
	all := slices.DeleteFunc(probes.Reasons(), func(r probes.Reason) bool { return !fits(r) })
	return all[d.IntN(len(all))]
}

// onHeld are the reasons of a request that ran on a held connection.
func onHeld(r probes.Reason) bool {
	j := judgement{at: &probes.Attempt{Reason: r}}
	return !j.opening() && r != probes.ReasonNoKeepAlive && !unmade(r)
}

// onFresh are those of a fresh one.
func onFresh(r probes.Reason) bool { return !strings.HasPrefix(string(r), "idle_") && !unmade(r) }

func unmade(r probes.Reason) bool {
	return r == probes.ReasonCanceled || r == probes.ReasonSkipped || r == probes.ReasonInternal
}

// attempt is one try, with what its reason leaves behind and with delays, round
// trips and usage of any size.
func (d dice) attempt(on probes.Connection, r probes.Reason, started time.Time) probes.Attempt {
	a := probes.Attempt{
		Connection: on, Reason: r, Started: started, Elapsed: 20*time.Microsecond + d.upTo(20*time.Second),
		RequestBytes: 60 + d.Int64N(900), Remote: remote(), DelayKnown: !d.one(4),
	}
	if r == probes.ReasonOK {
		a.Status = 200
	}
	met(&a)
	if d.one(2) {
		a.RTT = 1 + d.upTo(time.Second)
		a.MinRTT = 1 + d.upTo(a.RTT)
	}
	if a.RequestBytes > 0 && d.one(4) {
		part := d.Int64N(a.RequestBytes + 1)
		a.RequestBytesAcked, a.AckedAtFirst = &part, &part
	}
	if d.one(6) {
		a.RequestBytesAcked = nil
	}
	if a.DelayKnown {
		a.Delay = d.upTo(10 * time.Second)
		a.Waited = d.upTo(a.Delay)
	}
	if (a.Status == 429 || a.Status == 503) && d.one(2) {
		a.RetryAfter = time.Duration(1+d.IntN(120)) * time.Second
	}
	if r != probes.ReasonOK && !d.one(4) {
		a.Own = d.own(r)
	}
	switch {
	case r == probes.ReasonTLS:
		a.NoALPN = d.one(2)
	case r == probes.ReasonBadResponse && on != probes.ConnectionReused && d.one(2):
		a.NoHTTP1 = d.one(2)
		a.NoHTTP2 = !a.NoHTTP1
	}
	return a
}

func (d dice) own(r probes.Reason) *probes.OwnPod {
	o := &probes.OwnPod{ThrottledKnown: d.one(2)}
	if d.one(3) {
		o.Stalled = 500*time.Millisecond + d.upTo(10*time.Second)
	}
	if o.ThrottledKnown {
		o.Throttled = d.upTo(10 * time.Second)
	}
	if d.one(2) {
		o.Descriptors = probes.Usage{Used: d.IntN(1025), Limit: 1024}
		o.Ports = probes.Usage{Used: d.IntN(40000), Limit: 28232}
	}
	if r == probes.ReasonConnectFailed && d.one(2) || r == probes.ReasonDNS && d.one(4) {
		o.Exhausted = []probes.Resource{probes.ResourceDescriptors, probes.ResourcePorts}[d.IntN(2)]
	}
	return o
}

// rung is a held connection; its control may work, fail, or not be made.
func (d dice) rung() probes.Observation {
	warm := start().Add(d.upTo(20 * time.Second))
	hold := time.Second + d.upTo(5*time.Minute)
	o := probes.Observation{
		Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Hold: hold, Started: warm, Path: d.path(),
		Attempts: []probes.Attempt{d.attempt(probes.ConnectionFresh, probes.ReasonOK, warm)},
	}
	if d.one(10) {
		o.Attempts[0] = d.attempt(probes.ConnectionFresh, d.reason(onFresh), warm)
	}
	w := o.Attempts[0]
	o.Ended = endOf(o, w)
	if !w.OK() {
		return o
	}
	r := d.reason(onHeld)
	reuse := d.attempt(probes.ConnectionReused, r, w.Started.Add(w.Elapsed+hold+d.upTo(time.Second)))
	reuse.IdleTime = reuse.Started.Sub(w.Started.Add(w.Elapsed))
	how, idle := idleEnd()[r]
	if idle || r == probes.ReasonEOF && d.one(2) {
		if how == "" {
			how = probes.HowFIN
		}
		age := time.Millisecond + d.upTo(reuse.IdleTime-time.Millisecond)
		o.Close = &probes.Close{Age: age, AfterReply: age, How: how, Resolution: d.upTo(10 * time.Millisecond), At: w.Started.Add(w.Elapsed + age)}
		reuse.Queued = true
	}
	o.Attempts = append(o.Attempts, reuse)
	o.Ended = endOf(o, reuse)
	if wantsNone := reuse.OK() || r == probes.ReasonRateLimited || r == probes.ReasonUnauthorized || d.one(6); wantsNone {
		return o
	}
	c := d.attempt(probes.ConnectionControl, probes.ReasonOK, o.Ended.Add(d.upTo(20*time.Millisecond)))
	if d.one(3) {
		c = d.attempt(probes.ConnectionControl, d.reason(onFresh), o.Ended.Add(d.upTo(20*time.Millisecond)))
	}
	o.Attempts = append(o.Attempts, c)
	o.Ended = endOf(o, c)
	return o
}

// exchange is a fresh attempt and, now and then, a second one.
func (d dice) exchange() probes.Observation {
	o := probes.Observation{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Started: start(), Path: d.path()}
	a := d.attempt(probes.ConnectionFresh, d.reason(onFresh), start())
	o.Attempts, o.Ended = append(o.Attempts, a), start().Add(a.Elapsed)
	if triedAgain(a.Reason) && d.one(2) {
		again := d.attempt(probes.ConnectionFresh, d.reason(onFresh), o.Ended.Add(d.upTo(time.Second)))
		o.Attempts = append(o.Attempts, again)
		o.Ended = o.Ended.Add(time.Second + again.Elapsed)
	}
	return o
}

func (d dice) path() probes.Path {
	switch d.IntN(4) {
	case 0:
		return probes.Path{TCPEnds: probes.TCPEndsBeforePeer, Via: []string{"mesh sidecar"}, By: []string{"declared"}}
	case 1:
		return probes.Path{TCPEnds: probes.TCPEndsUnknown}
	}
	return probes.Path{TCPEnds: probes.TCPEndsPeer, TCPRTT: time.Millisecond, Hello: 2 * time.Millisecond}
}

func (d dice) limit() probes.Limit {
	return []probes.Limit{
		{}, {Mode: probes.LimitNone}, {Mode: probes.LimitAlways},
		{Mode: probes.LimitAfter, After: d.upTo(10 * time.Minute)},
	}[d.IntN(4)]
}

func (d dice) client() *probes.Client {
	kinds, wrappers := clients.Kinds(), append(clients.Wrappers(), "", "")
	c := &probes.Client{
		Kind: kinds[d.IntN(len(kinds))], WrappedBy: wrappers[d.IntN(len(wrappers))],
		MaxIdle: d.limit(), ValidateAfter: d.limit(), TCPKeepAlive: d.upTo(2 * time.Minute),
	}
	if d.one(3) {
		c.AutomaticRetries = probes.SwitchNone
	}
	if d.one(2) {
		lists := [][]string{nil, {"java.io.IOException"}, {"5xx", "429"}, {"java.lang.Exception"}, {"ECONNRESET"}}
		c.Retry = &probes.RetryPolicy{
			Layer: []probes.RetryLayer{probes.LayerInside, probes.LayerAround, ""}[d.IntN(3)], Attempts: 1 + d.IntN(4), Errors: lists[d.IntN(len(lists))],
		}
	}
	return c
}

func (d dice) input() Input {
	in := idleInput([]time.Duration{0, 10 * time.Second, time.Minute}[d.IntN(3)])
	if in.Spec.Kind = probes.KindHTTP; d.one(2) {
		in.Spec.Kind = probes.KindIdle
		for range 1 + d.IntN(4) {
			in.Observations = append(in.Observations, d.rung())
		}
	} else {
		in.Observations = []probes.Observation{d.exchange()}
	}
	in.Spec.Method = []string{"GET", "POST", "HEAD", ""}[d.IntN(4)]
	in.Spec.Search = d.one(5)
	if d.one(2) {
		in.Spec.Client = d.client()
	}
	if d.one(3) {
		in.OtherAnswered = []Answered{{"other-api", start().Add(d.upTo(10 * time.Minute))}}
	}
	if d.one(4) {
		in.Budget = probes.BudgetUse{}
	}
	return in
}
