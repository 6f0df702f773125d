//go:build peers

package peers

import (
	"fmt"
	"slices"
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
	for _, name := range []string{"tomcat10", "caddy", "go", "apache2", "nginx", "haproxy", "node"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var both sync.WaitGroup
			for _, secure := range []bool{false, true} {
				peer := start(t, nil, name, place{idle: idleTimeout, http2: true}, secure)
				capture, spec := StartCapture(t, peer.Port), specHTTP2(t, peer)
				both.Go(func() { atTheirTimeout(t, peer, capture, spec) })
			}
			both.Wait()
		})
	}
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
	spec.Timeouts = probes.Timeouts{DNS: 10 * time.Second, Connect: 10 * time.Second, TLS: 10 * time.Second, Response: 10 * time.Second}
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
	seen := playPaced(t, spec, holds)
	time.Sleep(20 * time.Millisecond) // the capture's own lag
	var told tally
	at := 0
	for _, m := range moments {
		got := map[probes.Reason]int{}
		for _, o := range seen[at : at+m.times] {
			got[judge(t, peer, capture, o, &told)]++
		}
		at += m.times
		t.Logf("%s, %s: %v", peer.Name, m.name, got)
		// All of them, unless the server itself was late.
		if m.name != racing && m.name != "within its tick" && got[probes.ReasonIdleGoaway] < m.times*9/10 {
			t.Errorf("%s: %s: %v, want idle_goaway %d times", peer.URL, m.name, got, m.times)
		}
		if m.name == racing && peer.Name != "tomcat10" && (got[probes.ReasonOK] == 0 || got[probes.ReasonOK] == m.times) {
			t.Errorf("%s: %s: %v: nothing raced", peer.URL, m.name, got)
		}
	}
	told.check(t, peer)
}

// playPaced holds one connection for each of holds, opened one after another,
// and returns the observations in their order.
func playPaced(t *testing.T, spec *probes.Spec, holds []time.Duration) []probes.Observation {
	t.Helper()
	const pace = 2 * time.Millisecond // a crowd at the door would come in late
	all := make([]probes.Observation, len(holds))
	env := newEnv()
	var open sync.WaitGroup
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for i, hold := range holds {
		<-ticks.C
		open.Add(1)
		probes.StartIdle(t.Context(), spec, hold, env, func(o probes.Observation) {
			all[i] = o
			open.Done()
		})
	}
	open.Wait()
	return all
}

// judge holds one observation against the capture and returns its reason.
func judge(t *testing.T, peer Peer, capture *Capture, o probes.Observation, told *tally) probes.Reason {
	t.Helper()
	a := decided(o)
	warm := o.Attempts[0]
	g := readGoodbye(capture.SegmentsAt(a.Local.Port(), a.Started), peer.CAFile != "", warm.Started.Add(warm.Elapsed), a.Started.Add(-time.Millisecond))
	told.add(g)
	why := reasonWrong(peer, a, g)
	if why == "" && a.Reason == probes.ReasonIdleGoaway {
		why = told.closeWrong(o.Close, g)
	}
	if c := o.Attempt(probes.ConnectionControl); why == "" && ((c == nil) != (a.Reason == probes.ReasonOK) || c != nil && !c.OK()) {
		why = fmt.Sprintf("control %+v, want one that was answered exactly where the reuse failed", c)
	}
	if why == "" {
		return a.Reason
	}
	if told.wrong++; told.wrong <= 3 { // as a rule all are wrong in the same way
		t.Errorf("%s held %s: %s: %s\n%s\nattempt %+v\nclose %+v\ncapture %+v", peer.URL, o.Hold, a.Reason, why, a.Detail, a, o.Close, g)
	}
	return a.Reason
}

// reasonWrong holds the reason of a reuse against the capture; empty: it is the
// right one. These servers leave no fifth, and the fourth is Tomcat's alone: its
// timeout is another thread's than the one that has just read the request.
func reasonWrong(peer Peer, a probes.Attempt, g goodbye) string {
	switch a.Reason {
	case probes.ReasonOK:
		if g.Seen || g.Reply < len(twoDays) || a.Status != 200 || a.Proto != "HTTP/2.0" {
			return "want a whole answer over HTTP/2, and no GOAWAY before the request"
		}
	case probes.ReasonIdleGoaway:
		if !g.Seen {
			return "the GOAWAY had not come when the request left"
		}
	case probes.ReasonGoawayUnprocessed:
		// Perch looks, then writes: what comes in between it cannot know. And a busy
		// kernel stamps a packet a while before it hands it on.
		between := g.Seen && !g.Goaway.Before(a.Started.Add(-10*time.Millisecond))
		if g.Goaway.IsZero() || g.Reply > 0 || g.Seen && !between || peer.CAFile == "" && g.Covered != 1 {
			return "want a GOAWAY that came after the request left and speaks of the first stream alone"
		}
	case probes.ReasonGoawayProcessed:
		if peer.Name != "tomcat10" || g.Goaway.IsZero() || g.Seen || g.Reply > 0 || a.Goaway == nil || a.Goaway.LastStream < 3 ||
			peer.CAFile == "" && g.Covered != a.Goaway.LastStream {
			return "want a GOAWAY that came after the request left and speaks of its stream"
		}
	default:
		return "no reason that is true of this server"
	}
	return ""
}

// tally gathers what a server did, and how far perch was from it.
type tally struct {
	age, notify, fin []time.Duration // of the GOAWAY; behind it
	at, aged         []time.Duration // how far perch's close is from the capture's: its instant, its idle age
	far              int             // closes whose instant is farther off than nearly, and than perch says
	wrong            int
}

// nearly is how far what perch tells of a close may be from the capture.
const nearly = 20 * time.Millisecond

// closeWrong holds the close that perch tells against the capture; empty: it is
// that close. How far the two are apart is told for all of them together.
func (l *tally) closeWrong(c *probes.Close, g goodbye) string {
	if c == nil || c.How != probes.HowGoaway {
		return "want a close by GOAWAY"
	}
	at, aged := c.At.Sub(g.Goaway).Abs(), (c.Age - g.Goaway.Sub(g.Answered)).Abs()
	l.at, l.aged = append(l.at, at), append(l.aged, aged)
	if at > max(nearly, c.Resolution) {
		l.far++
	}
	return ""
}

// check fails the test where any observation was wrong, where of the closes that
// perch told more than 1 in 20 is not the capture's (now and then the whole
// machine stands still), or where half of the ages are not: they begin when perch
// has read the answer, and a crowd is read late.
func (l *tally) check(t *testing.T, peer Peer) {
	t.Helper()
	t.Logf("%s, told to close after %s: %s", peer.URL, idleTimeout, l)
	if l.wrong > 0 {
		t.Errorf("%s: %d observations were wrong", peer.URL, l.wrong)
	}
	slices.Sort(l.aged)
	if n := len(l.at); n == 0 || l.far > n/20 || l.aged[n/2] > nearly {
		t.Errorf("%s: %d of %d closes are farther than %s from the capture's, ages %s", peer.URL, l.far, n, nearly, spread(l.aged))
	}
}

func (l *tally) add(g goodbye) {
	if !g.Seen {
		return // what a request met may have changed it
	}
	l.age = append(l.age, g.Goaway.Sub(g.Answered))
	if !g.Notify.IsZero() && g.Notify.Before(g.Asked) {
		l.notify = append(l.notify, g.Notify.Sub(g.Goaway))
	}
	if !g.FIN.IsZero() && g.FIN.Before(g.Asked) {
		l.fin = append(l.fin, g.FIN.Sub(g.Goaway))
	}
}

func (l *tally) String() string {
	return fmt.Sprintf("GOAWAY after %s; close_notify behind it %s; FIN behind it %s; perch's instant off by %s, its age by %s",
		spread(l.age), spread(l.notify), spread(l.fin), spread(l.at), spread(l.aged))
}

// spread is the smallest, the median and the largest.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "never"
	}
	slices.Sort(all)
	return fmt.Sprintf("%s / %s / %s (%d)", all[0].Round(time.Microsecond), all[len(all)/2].Round(time.Microsecond),
		all[len(all)-1].Round(time.Microsecond), len(all))
}
