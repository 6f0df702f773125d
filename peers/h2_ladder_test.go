//go:build peers

package peers

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"perch.example/internal/stood"
)

const ladderHTTP2 = `
version: 1
name: peers
targets:
  - name: peer
    url: %s
    protocol: %s
    rate_limit: 50/s
    share: 100%%
    tls: {ca_file: %q}
    probes:
      - {name: idle, kind: idle, path: "", keep_alive: 2s, holds: [500ms, 1s, 2800ms, 4500ms]}
`

// TestIdleProbeOverHTTP2 runs a ladder around a server's timeout as a user does:
// each rung says what it held, the long ones end by GOAWAY, also in the second
// before Go's FIN, and nothing is called an outage.
func TestIdleProbeOverHTTP2(t *testing.T) {
	for _, c := range []struct{ server, protocol string }{{"go", "h2c"}, {"go", "h2"}, {"nginx", "auto"}} {
		t.Run(c.server+"/"+c.protocol, func(t *testing.T) {
			t.Parallel()
			peer := start(t, nil, c.server, place{idle: idleTimeout, http2: true}, c.protocol != "h2c")
			capture := StartCapture(t, peer.Port)
			config := filepath.Join(t.TempDir(), "perch.yaml")
			write(t, config, fmt.Sprintf(ladderHTTP2, peer.URL, c.protocol, peer.CAFile))
			stood.Again(t, stood.Moment, func() []string {
				d := runPerch(t, "", []int{0, 1}, "run", "--config", config)
				return goodbyesWrong(peer, capture, d)
			})
		})
	}
}

// goodbyesWrong holds the ladder's rungs against the capture.
func goodbyesWrong(peer Peer, capture *Capture, d document) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if len(d.Outcomes) != 4 || d.Verdict != "pass" {
		say("%d outcomes, want 4 and pass: %+v", len(d.Outcomes), d)
	}
	for _, o := range d.Outcomes {
		want := "ok"
		if o.HoldSeconds > idleTimeout.Seconds() {
			want = "idle_goaway"
		}
		if len(o.Attempts) < 2 || o.Verdict != "pass" || o.Reason != want || o.Attempts[1].Proto != "HTTP/2.0" {
			say("held %v s: want pass %s over HTTP/2.0: %+v", o.HoldSeconds, want, o)
			continue
		}
		if want == "ok" {
			continue
		}
		segments := capture.Segments(o.Attempts[1].LocalAddr.Port())
		answered := segments[0].At.Add(idleTimeout / 2)
		g := readGoodbye(segments, peer.CAFile != "", answered, answered.Add(idleTimeout/2+100*time.Millisecond))
		told := time.Duration(*o.ClosedAfterSeconds * float64(time.Second))
		if off := (told - g.Goaway.Sub(g.Answered)).Abs(); off > nearly || !g.Seen {
			say("held %v s: told of a GOAWAY after %s, the capture shows %+v", o.HoldSeconds, told, g)
		}
	}
	return wrong
}
