//go:build peers

package peers

import (
	"sync"
	"testing"
	"time"

	"perch.example/probes"
)

// moment is when connections are used again: spread evenly over these idle
// ages.
type moment struct {
	name     string
	from, to time.Duration
	times    int
}

// racing is the moment at which a server's goodbye and a request meet.
const racing = "at the timeout"

// momentsOf are a server's moments, 200 of them around its timeout and 200
// behind it.
func momentsOf(name string) []moment {
	const near = 50 * time.Millisecond
	race := moment{racing, idleTimeout - near, idleTimeout + near, 200}
	switch name {
	case "go", "caddy": // they close one second after their GOAWAY
		return []moment{
			race,
			{"between GOAWAY and FIN", idleTimeout + 100*time.Millisecond, idleTimeout + 800*time.Millisecond, 100},
			{"behind the FIN", idleTimeout + 1300*time.Millisecond, idleTimeout + 1500*time.Millisecond, 100},
		}
	case "tomcat10": // it looks once a second
		_, late := expected(name)
		return []moment{race, {"within its tick", idleTimeout, late, 200}, {"behind it", late + 300*time.Millisecond, late + 500*time.Millisecond, 200}}
	default:
		return []moment{race, {"behind it", idleTimeout + 300*time.Millisecond, idleTimeout + 500*time.Millisecond, 200}}
	}
}

// TestHTTP2ServersAtTheirTimeout uses connections to real servers again around
// and behind the idle timeout. What the capture saw of each connection says
// which reason is right: never another one, and never an answer for none.
func TestHTTP2ServersAtTheirTimeout(t *testing.T) {
	const together = 4 // a crowd on two cores would be looked at late
	turns := make(chan func(), 20)
	for _, name := range []string{"tomcat10", "caddy", "go", "apache2", "nginx", "haproxy", "node"} {
		for over, secure := range map[string]bool{"plain": false, "tls": true} {
			peer := start(t, nil, name, place{idle: idleTimeout, http2: true}, secure)
			turns <- func() {
				t.Run(name+"/"+over, func(t *testing.T) {
					atTheirTimeout(t, peer, StartCapture(t, peer.Port), specHTTP2(t, peer))
				})
			}
		}
	}
	close(turns)
	var all sync.WaitGroup
	for range together {
		all.Go(func() {
			for turn := range turns {
				turn()
			}
		})
	}
	all.Wait()
}

// specHTTP2 is an idle probe of that peer: an answer is right when it has both
// days.
func specHTTP2(t *testing.T, peer Peer) *probes.Spec {
	t.Helper()
	spec := newSpec(t, probes.KindIdle, peer.URL, "status == 200", "size(json.days) == 2")
	spec.Protocol = probes.ProtocolH2C
	if peer.CAFile != "" {
		spec.Protocol, spec.TLS.CAFile = probes.ProtocolH2, peer.CAFile
	}
	return spec
}

// atTheirTimeout plays all moments of one server and judges each of them.
func atTheirTimeout(t *testing.T, peer Peer, capture *Capture, spec *probes.Spec) {
	moments := momentsOf(peer.Name)
	var holds []time.Duration
	for _, m := range moments {
		for i := range m.times {
			holds = append(holds, m.from+time.Duration(i)*(m.to-m.from)/time.Duration(m.times-1))
		}
	}
	seen := playPaced(t, spec, newEnv(), holds)
	capture.catchUp(t)
	var told tally
	at := 0
	for _, m := range moments {
		got := map[probes.Reason]int{}
		for _, o := range seen[at : at+m.times] {
			got[judge(t, peer, capture, o, &told)]++
		}
		at += m.times
		t.Logf("%s, %s: %v", peer.Name, m.name, got)
		// All of them, unless the server itself was late; each is held to the capture.
		if m.name != racing && m.name != "within its tick" && got[probes.ReasonIdleGoaway] < m.times/2 {
			t.Errorf("%s: %s: %v, want idle_goaway %d times", peer.URL, m.name, got, m.times)
		}
		if m.name == racing && peer.Name != "tomcat10" && (got[probes.ReasonOK] == 0 || got[probes.ReasonOK] == m.times) {
			t.Errorf("%s: %s: %v: nothing raced", peer.URL, m.name, got)
		}
	}
	told.check(t, peer)
}

// playPaced holds one connection for each of holds, opened one after another, and
// returns the observations in their order. They end as far apart as they began. A
// busy machine opens them more slowly: a crowd at the door would be what is timed.
func playPaced(t *testing.T, spec *probes.Spec, env probes.Env, holds []time.Duration) []probes.Observation {
	t.Helper()
	all := make([]probes.Observation, len(holds))
	opening := make(chan struct{}, 4)
	var open sync.WaitGroup
	ticks := time.NewTicker(3 * time.Millisecond)
	defer ticks.Stop()
	for i, hold := range holds {
		<-ticks.C
		opening <- struct{}{}
		opened := sync.OnceFunc(func() { <-opening })
		env.Watch = func(e probes.Event) {
			if e.What == probes.EventHolding {
				opened()
			}
		}
		open.Add(1)
		probes.StartIdle(t.Context(), spec, hold, env, func(o probes.Observation) {
			all[i] = o
			opened()
			open.Done()
		})
	}
	open.Wait()
	return all
}
