package slackstory

import (
	"net/netip"
	"time"

	"perch.example/probes"
)

const ms = time.Millisecond

// start is when the stories begin.
func start() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// exchange is one attempt against an API that is 110 ms away, by a perch that
// nothing held up.
func exchange(c probes.Connection, r probes.Reason, elapsed time.Duration) probes.Attempt {
	a := probes.Attempt{
		Number: 1, Connection: c, Reason: r, Method: "GET", Started: start(), Elapsed: elapsed,
		Local: netip.MustParseAddrPort("10.0.4.17:43122"), Remote: netip.MustParseAddrPort("192.0.2.10:443"),
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7",
		Delay: ms / 10, DelayKnown: true,
	}
	if r != probes.ReasonRefused { // which ends before anything is sent
		acked := int64(231)
		a.RTT, a.MinRTT, a.RequestBytes, a.RequestBytesAcked = 110*ms, 109*ms, acked, &acked
	}
	if r == probes.ReasonOK {
		a.Status, a.Proto, a.ResponseBytes = 200, "HTTP/1.1", 1874
		return a
	}
	a.Own = &probes.OwnPod{
		ThrottledKnown: true, Descriptors: probes.Usage{Used: 23, Limit: 1024}, Ports: probes.Usage{Used: 14, Limit: 28232},
	}
	return a
}

func fresh(r probes.Reason, elapsed time.Duration) probes.Attempt {
	return exchange(probes.ConnectionFresh, r, elapsed)
}

// tries are one exchange, and perch's second try.
func tries(attempts ...probes.Attempt) probes.Observation {
	o := probes.Observation{Started: start(), Ended: start().Add(time.Second), Attempts: attempts, Path: probes.Path{TCPEnds: probes.TCPEndsPeer}}
	for i := range o.Attempts {
		o.Attempts[i].Number, o.Attempts[i].Started = i+1, start().Add(time.Duration(i)*300*ms)
	}
	return o
}

// held is a connection that was held idle and used again. Where that failed, a
// fresh one works.
func held(hold time.Duration, reused probes.Attempt) probes.Observation {
	warm := fresh(probes.ReasonOK, 131*ms)
	at := start().Add(warm.Elapsed + hold)
	reused.Number, reused.Started, reused.IdleTime, reused.Served = 2, at, hold, 1
	o := probes.Observation{
		Hold: hold, Started: start(), Ended: at.Add(time.Second), Attempts: []probes.Attempt{warm, reused},
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer},
	}
	if !reused.OK() {
		control := exchange(probes.ConnectionControl, probes.ReasonOK, 349*ms)
		control.Number, control.Started = 3, at.Add(reused.Elapsed+ms)
		o.Attempts = append(o.Attempts, control)
	}
	return o
}

func alive(hold time.Duration) probes.Observation {
	return held(hold, exchange(probes.ConnectionReused, probes.ReasonOK, 128*ms))
}

// reset: it looked open, and the request was answered by a RST.
func reset(hold time.Duration) probes.Observation {
	return held(hold, exchange(probes.ConnectionReused, probes.ReasonReset, 111*ms))
}

// closed: the peer's FIN came at that idle age, before the request left.
func closed(hold, age time.Duration) probes.Observation {
	reused := exchange(probes.ConnectionReused, probes.ReasonIdleFIN, ms/3)
	nothing := int64(0)
	reused.Queued, reused.RequestBytesAcked = true, &nothing
	o := held(hold, reused)
	o.Close = &probes.Close{
		Age: age, AfterReply: age, At: start().Add(131*ms + age), How: probes.HowFIN, Resolution: ms / 10,
	}
	return o
}

// later moves all of an observation.
func later(o *probes.Observation, by time.Duration) {
	o.Started, o.Ended = o.Started.Add(by), o.Ended.Add(by)
	for i := range o.Attempts {
		o.Attempts[i].Started = o.Attempts[i].Started.Add(by)
	}
	if o.Close != nil {
		o.Close.At = o.Close.At.Add(by)
	}
}
