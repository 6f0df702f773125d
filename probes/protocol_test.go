package probes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// HTTP/1.1 spoken to a server of HTTP/2 only, and HTTP/2 to one of HTTP/1.1 only, is
// told as what it is, by a probe of each kind: whatever the moment at which the peer
// says it, and closes.
func TestTheOtherProtocol(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scenario string
		speaks   Protocol
		says     string
	}{
		{"h2_idle_goaway", ProtocolHTTP1, "it speaks HTTP/2: what came is a SETTINGS frame, "},
		{"h2_idle_goaway", ProtocolAuto, "it speaks HTTP/2: what came is a SETTINGS frame, "},
		{"idle_fin", ProtocolH2C, "the peer answers in HTTP/1.1, not in HTTP/2 ("},
	} {
		for _, kind := range []Kind{KindHTTP, KindIdle} {
			t.Run(fmt.Sprint(tt.scenario, tt.speaks, kind), func(t *testing.T) {
				t.Parallel()
				d := &desk{t: t}
				address, env := labEnv(t, tt.scenario, 5*time.Second, d)
				s := realSpec(t, kind, address)
				s.Protocol = tt.speaks
				var o Observation
				if kind == KindIdle {
					o = playReal(t.Context(), s, 50*time.Millisecond, env)
				} else {
					o = RunHTTP(t.Context(), s, env)
				}
				if !slices.Contains(reasons(o), ReasonBadResponse) || o.Cut != "" {
					t.Fatalf("%v: %+v", reasons(o), o)
				}
				for _, a := range o.Attempts {
					overH2 := tt.speaks == ProtocolH2C
					if a.Reason != ReasonBadResponse || a.NoHTTP2 != overH2 || a.NoHTTP1 == overH2 || !strings.HasPrefix(a.Detail, tt.says) {
						t.Errorf("attempt %d: %s, %s (no HTTP/1.1 %v, no HTTP/2 %v)", a.Number, a.Reason, a.Detail, a.NoHTTP1, a.NoHTTP2)
					}
				}
				d.settled(t)
			})
		}
	}
}
