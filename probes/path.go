package probes

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// apart and nearShare say when TCP ends clearly nearer than TLS: its round
	// trip is under a fifth of what the TLS peer takes to be heard, and that is 5
	// ms or more longer. What is less may as well be the peer at work: a signature
	// takes 1 to 4 ms, a busy machine longer.
	apart     = 5 * time.Millisecond
	nearShare = 5
	// farAway is a round trip beyond what stands beside perch: a sidecar answers
	// from the same machine, an egress gateway from the same cluster.
	farAway = 5 * time.Millisecond
)

// byTrip is how a proxy was seen that gave itself away by time alone.
const byTrip = "by its round trip: "

// Names of what may stand on the way, as Path.Via has them.
const (
	viaMesh  = "mesh sidecar"
	viaProxy = "proxy"
)

// Words says what stands on the way and how that is known, as "mesh sidecar
// (declared), proxy (by its round trip: ...)". Empty: nothing is known to.
func (p Path) Words() string {
	said := make([]string, 0, len(p.Via))
	for i, v := range p.Via {
		if i < len(p.By) && p.By[i] != "" {
			v += " (" + p.By[i] + ")"
		}
		said = append(said, v)
	}
	return strings.Join(said, ", ")
}

// pathOf decides where the TCP connections of an observation end, from what the
// config declares, the mesh that was found beside perch (words for people;
// empty: none), the forward proxy that was asked for the connections (likewise)
// and what the attempts showed. The first that holds:
//
//   - through a forward proxy: there.
//   - declared: before the peer. Perch may not be able to see it.
//   - over TLS, TCP's round trip is much shorter than what the TLS peer takes to
//     be heard: before the peer.
//   - over TLS, they agree, and TCP's round trip is so long that it ends far
//     away: at the peer. A mesh whose port is open beside perch does not carry
//     this connection then, and a proxy that left its name in the answer stands
//     at the far end, as many an API's own edge does. What was measured on the
//     connection outweighs what stands near it.
//   - a mesh beside perch, or a proxy's name in the answer: before the peer.
//   - over TLS, they agree: at the peer, as far as 5 ms can tell.
//   - otherwise it is unknown: without TLS nothing tells the peer from a proxy.
//
// Both times are the smallest of all attempts, for the peer may have been busy
// during one of them.
func pathOf(declared Via, mesh, forward string, attempts []Attempt) Path {
	p := Path{TCPEnds: TCPEndsUnknown}
	p.TCPRTT, p.Hello = roundTrips(attempts)
	measured := p.TCPRTT > 0 && p.Hello > 0
	split := endsNearer(p.TCPRTT, p.Hello)
	far := measured && !split && p.TCPRTT >= farAway

	if forward != "" {
		p.stands(viaProxy, forward)
	}
	switch declared {
	case ViaMesh:
		p.stands(viaMesh, "declared")
	case ViaProxy:
		p.stands(viaProxy, "declared")
	case ViaNone:
	}
	if mesh != "" && !far {
		p.stands(viaMesh, mesh)
	}
	before := len(p.Via) > 0
	for _, a := range attempts {
		for _, v := range a.Via {
			if far {
				p.stands(v, "at the far end, by the answer's headers")
			} else {
				p.stands(v, "by the answer's headers")
			}
		}
	}
	if split && !before {
		p.stands(viaProxy, byTrip+p.trips())
	}
	switch {
	case before, split, len(p.Via) > 0 && !far:
		p.TCPEnds = TCPEndsBeforePeer
	case measured:
		p.TCPEnds = TCPEndsPeer
	}
	return p
}

// endsNearer reports whether TCP ends clearly nearer than TLS.
func endsNearer(rtt, heard time.Duration) bool {
	return rtt > 0 && heard > 0 && rtt*nearShare < heard && heard-rtt >= apart
}

// path is the path of a step that has ended.
func (e Env) path(s *Spec, attempts []Attempt) Path {
	mesh := ""
	if e.Mesh != nil && len(attempts) > 0 {
		mesh = e.Mesh()
	}
	return pathOf(s.Via, mesh, e.forward(s), attempts)
}

// forward says who named the forward proxy that a probe's connections go to, and
// which it is; empty: there is none.
func (e Env) forward(s *Spec) string {
	f, err := s.Forward(e.Getenv)
	if err != nil || f == nil {
		return ""
	}
	return f.By + ", " + f.String()
}

// trips words the two round trips.
func (p Path) trips() string {
	return fmt.Sprintf("TCP %s, TLS hello %s", trip(p.TCPRTT), trip(p.Hello))
}

// trip is a round trip in milliseconds, as people compare them.
func trip(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 0.1:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}

// stands adds what stands on the way, once.
func (p *Path) stands(what, by string) {
	if !slices.Contains(p.Via, what) {
		p.Via, p.By = append(p.Via, what), append(p.By, by)
	}
}

// roundTrips returns the smallest TCP round trip of the attempts over TLS, and
// the quickest that the TLS peer was heard: after the ClientHello, or, when it
// was busy then, after a request, for an answer comes from it as well. Attempts
// of which only one is known are left out: another address may be nearer. So are
// handshakes that failed: what came back then, an alert or no TLS at all, may be
// of whoever stands in between.
func roundTrips(attempts []Attempt) (rtt, heard time.Duration) {
	for _, a := range attempts {
		if a.MinRTT <= 0 || a.Hello <= 0 || a.Reason == ReasonTLS {
			continue
		}
		quickest := a.Hello
		if a.Status > 0 && a.Phases.Wait > 0 {
			quickest = min(quickest, a.Phases.Wait)
		}
		rtt, heard = smallest(rtt, a.MinRTT), smallest(heard, quickest)
	}
	return rtt, heard
}

// smallest is the smaller of two times, of which 0 is unknown.
func smallest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
