//go:build peers

package peers

import (
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"perch.example/probes"
)

// near is how far from its idle timeout a server is asked whether it has closed.
const near = 50 * time.Millisecond

// TestGRPCIdleTimeout: a grpc-go server with MaxConnectionIdle, 200 reuses just
// before it, 200 at it and 200 just after it, of a method and of the health check,
// plain and over TLS: none has a wrong reason, and the GOAWAY came when perch says.
func TestGRPCIdleTimeout(t *testing.T) {
	const idle = 1500 * time.Millisecond
	for _, tt := range []struct {
		name   string
		secure bool
		g      probes.GRPC
	}{{"method", false, probes.GRPC{Method: unary}}, {"health", false, probes.GRPC{}}, {"method over TLS", true, probes.GRPC{Method: unary}}} {
		t.Run(tt.name, func(t *testing.T) {
			p := newGRPC(t, describesAll, tt.secure, grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idle}))
			spec := newGRPCSpec(t, probes.KindIdle, p, tt.g)
			capture := StartCapture(t, portOf(t, spec))
			env := newEnv()
			env.Descriptors = &probes.Descriptors{}
			var holds []time.Duration
			for range times {
				holds = append(holds, idle-near, idle, idle+near)
			}
			seen := playPaced(t, spec, env, holds)
			capture.catchUp(t)
			var told tally
			ok, timely, closes, late := map[time.Duration]int{}, map[time.Duration]int{}, 0, 0
			for _, o := range seen {
				if !tt.secure { // in a record of TLS's the capture reads none of these frames
					checkCaptured(t, o, capture, &told)
				}
				answered := checkIdle(t, o, idle)
				if decided(o).Delay > near/2 {
					continue // by its own word it was not used when it should have been
				}
				timely[o.Hold]++
				if answered {
					ok[o.Hold]++
				}
				if c := o.Close; c != nil {
					closes++
					if c.Age+o.Attempts[0].Delay > idle+near+c.Resolution {
						late++
					}
				}
			}
			t.Logf("answered: %v of %v each; %d of %d closes late; %s", ok, timely, late, closes, &told)
			// Loaded cores make some of the server's GOAWAYs late, for it runs in this very
			// process: without TLS the capture says of each reuse whether its reason was right.
			if ok[idle-near] < timely[idle-near]*3/4 || ok[idle+near] > timely[idle+near]*9/10 || late*2 > closes {
				t.Errorf("of %v reuses each, %d were answered before the timeout, %d after it; %d of %d closes were late",
					timely, ok[idle-near], ok[idle+near], late, closes)
			}
			if min(timely[idle-near], timely[idle+near]) < times/4 {
				t.Errorf("of %d reuses each only %v were in time: the machine is too busy to say anything", times, timely)
			}
			if why := told.at.far(); !tt.secure && why != "" {
				t.Errorf("instants of closes: %s", why)
			}
			if why := told.aged.far(); !tt.secure && why != "" {
				t.Errorf("idle ages of closes: %s", why)
			}
			if asked := p.asked.Load(); tt.g.Method != "" && asked != 1 {
				t.Errorf("reflection was asked %d times, want once", asked)
			}
		})
	}
}

// portOf is the port of the server that a probe asks.
func portOf(t *testing.T, s *probes.Spec) uint16 {
	t.Helper()
	port, err := strconv.ParseUint(s.URL.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// checkCaptured holds a reuse against the capture: whether the GOAWAY had come when
// its request left, and when.
func checkCaptured(t *testing.T, o probes.Observation, capture *Capture, told *tally) {
	t.Helper()
	warm, a := o.Attempts[0], decided(o)
	g := readGoodbye(capture.SegmentsAt(a.Local.Port(), a.Started), false, warm.Started.Add(warm.Elapsed), a.Started.Add(-time.Millisecond))
	told.add(g)
	why := ""
	switch {
	case a.Reason == probes.ReasonIdleGoaway && !g.Seen:
		why = "no GOAWAY had come when the request left"
	case a.Reason == probes.ReasonIdleGoaway:
		why = told.closeWrong(o, g)
	case g.Seen && !between(a, g):
		why = "a GOAWAY had come when the request left"
	}
	if why != "" {
		t.Errorf("held %s: %s: %s\nattempt %+v\ncapture %+v", o.Hold, a.Reason, why, a, g)
	}
}

// checkIdle judges a rung by its own evidence, and reports whether its reuse was
// answered. What was late is allowed for: the server began to count at some moment
// of the warm-up, when its answer left.
func checkIdle(t *testing.T, o probes.Observation, idle time.Duration) bool {
	t.Helper()
	warm, reuse, control := o.Attempt(probes.ConnectionFresh), o.Attempt(probes.ConnectionReused), o.Attempt(probes.ConnectionControl)
	if reuse == nil || reuse.Served != 1 {
		t.Errorf("hold %s: %+v", o.Hold, o)
		return false
	}
	slack := near + warm.Elapsed + reuse.Delay
	switch {
	case reuse.OK():
		return true
	case reuse.Reason == probes.ReasonIdleGoaway:
		if reuse.Goaway == nil || reuse.Goaway.Code != 0 || !reuse.Goaway.Idle || reuse.Goaway.TooManyPings() {
			t.Errorf("hold %s: goaway %+v", o.Hold, reuse.Goaway)
		}
		if o.Close == nil || o.Close.How != probes.HowGoaway || o.Close.Age < idle-near-warm.Elapsed-o.Close.Resolution {
			t.Errorf("hold %s: close %+v, want a goaway at %s or a little later", o.Hold, o.Close, idle)
		}
	case reuse.Reason != probes.ReasonGoawayUnprocessed || (reuse.IdleTime-idle).Abs() > slack:
		t.Errorf("hold %s: %s after %s idle (%s)", o.Hold, reuse.Reason, reuse.IdleTime, reuse.Detail)
	}
	if control == nil || !control.OK() {
		t.Errorf("hold %s: control %+v", o.Hold, control)
	}
	return false
}

// TestGRPCAge: MaxConnectionAge ends a connection in use and idle alike, and says
// so. A server draws it within a tenth of what is set.
func TestGRPCAge(t *testing.T) {
	const age = 1500 * time.Millisecond
	p := newGRPC(t, describesAll, false, grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: age}))
	s := newGRPCSpec(t, probes.KindIdle, p, probes.GRPC{})
	var holds []time.Duration
	for range times {
		holds = append(holds, age-age/10-700*time.Millisecond, age+age/10+700*time.Millisecond)
	}
	outlived := 0
	for _, o := range playPaced(t, s, newEnv(), holds) {
		reuse := o.Attempt(probes.ConnectionReused)
		switch {
		case reuse == nil:
			t.Errorf("hold %s: %+v", o.Hold, o)
		case reuse.OK() && reuse.IdleTime > age+age/10+near: // loaded cores make some of the server's GOAWAYs late
			outlived++
		case reuse.OK():
		case reuse.Reason != probes.ReasonIdleGoaway || reuse.ConnectionAge < age-age/10:
			t.Errorf("hold %s: %s at the age of %s (%s)", o.Hold, reuse.Reason, reuse.ConnectionAge, reuse.Detail)
		case reuse.Goaway == nil || reuse.Goaway.Debug != "max_age":
			t.Errorf("hold %s: goaway %+v, want max_age", o.Hold, reuse.Goaway)
		}
	}
	if outlived > times/4 {
		t.Errorf("%d of %d connections were older than the server wants", outlived, times)
	}
}

// TestGRPCPings: a client that pings more often than the server allows is sent
// away with too_many_pings; one that does not ping, or is allowed to, is not.
func TestGRPCPings(t *testing.T) {
	strict := newGRPC(t, describesAll, false, grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Minute}))
	// On loaded cores PINGs may arrive together: any distance is allowed.
	lenient := newGRPC(t, describesAll, false, grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Nanosecond, PermitWithoutStream: true}))
	for _, tt := range []struct {
		name string
		peer *grpcPeer
		ping time.Duration
		want probes.Reason
	}{
		{"strict, pings", strict, 100 * time.Millisecond, probes.ReasonIdleGoaway},
		{"strict, no pings", strict, 0, probes.ReasonOK},
		{"lenient, pings", lenient, 100 * time.Millisecond, probes.ReasonOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newGRPCSpec(t, probes.KindIdle, tt.peer, probes.GRPC{})
			s.Client = &probes.Client{Kind: "go-net-http", HTTP2Ping: tt.ping}
			holds := make([]time.Duration, times)
			for i := range holds {
				holds[i] = 1500 * time.Millisecond
			}
			for _, o := range playPaced(t, s, newEnv(), holds) {
				reuse := o.Attempt(probes.ConnectionReused)
				if reuse != nil && reuse.OK() && reuse.Elapsed > near {
					continue // the server stood still, and had not read the PINGs either
				}
				if reuse == nil || reuse.Reason != tt.want || reuse.Goaway.TooManyPings() != (tt.want == probes.ReasonIdleGoaway) {
					t.Errorf("%+v", reuse)
				}
			}
		})
	}
}
