package probes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// labH2 is a spec of a scenario that speaks HTTP/2.
func labH2(t *testing.T, scenario string, timeout time.Duration, d *desk) (*Spec, Env) {
	t.Helper()
	address, env := labEnv(t, scenario, timeout, d)
	s := realSpec(t, KindIdle, address)
	s.TLS.CAFile, s.Protocol = "ca.pem", ProtocolH2C
	if strings.HasPrefix(address, "https") {
		s.Protocol = ProtocolH2
	}
	return s, env
}

// TestHeldOverH2 holds HTTP/2 connections that their server ends while idle: a
// GOAWAY ends a search as a FIN does, and the rung says what it held.
func TestHeldOverH2(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"h2_idle_goaway", "h2_idle_goaway_lingering", "h2_idle_goaway_twice"} {
		for _, search := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s search %v", scenario, search), func(t *testing.T) {
				t.Parallel()
				d := &desk{t: t}
				s, env := labH2(t, scenario, idleFor, d)
				s.Search = search
				o := playReal(t.Context(), s, heldFor, env)
				if want := []Reason{ReasonOK, ReasonIdleGoaway, ReasonOK}; !slices.Equal(reasons(o), want) || o.Cut != "" {
					t.Fatalf("%v, want %v: %+v", reasons(o), want, o)
				}
				if o.Close == nil || o.Close.How != HowGoaway || o.Close.Age < idleFor-o.Attempts[0].Delay-10*time.Millisecond || o.Close.Age > heldFor {
					t.Errorf("the close is %+v, want a GOAWAY", o.Close)
				}
				reuse := o.Attempts[1]
				if search == (reuse.IdleTime >= heldFor) || !reuse.Queued || reuse.Timing() != TimingQueued {
					t.Errorf("reused after %s, queued %v", reuse.IdleTime, reuse.Queued)
				}
				for _, a := range o.Attempts {
					if a.Proto != "HTTP/2.0" {
						t.Errorf("attempt %d speaks %q", a.Number, a.Proto)
					}
				}
				d.settled(t)
			})
		}
	}
}

// The application's PINGs are sent where its client is said to send them.
func TestHTTP2PingIsTheClients(t *testing.T) {
	c := &call{spec: newSpec(t, KindIdle, api)}
	c.spec.Client = &Client{HTTP2Ping: 7 * time.Second}
	c.spec.Protocol = ProtocolH2C
	if o := c.options(); o.Ping != 7*time.Second || o.Protocol != "h2" {
		t.Errorf("%+v", o)
	}
}
