//go:build peers

package peers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// judge holds one observation against the capture and returns its reason.
func judge(t *testing.T, peer Peer, capture *Capture, o probes.Observation, told *tally) probes.Reason {
	t.Helper()
	a := decided(o)
	warm := o.Attempts[0]
	g := readGoodbye(capture.SegmentsAt(a.Local.Port(), a.Started), peer.CAFile != "", warm.Started.Add(warm.Elapsed), a.Started.Add(-time.Millisecond))
	told.add(g)
	why := reasonWrong(peer, a, g)
	if why == "" && a.Reason == probes.ReasonIdleGoaway {
		why = told.closeWrong(o, g)
	}
	// Perch may be the one that left a new connection unused for so long.
	if c := o.Attempt(probes.ConnectionControl); why == "" && ((c == nil) != (a.Reason == probes.ReasonOK) || c != nil && !c.OK() && c.Delay < idleTimeout-nearly) {
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
		if g.Goaway.IsZero() || g.Reply > 0 || g.Seen && !between(a, g) || peer.CAFile == "" && g.Covered != 1 {
			return "want a GOAWAY that came after the request left and speaks of the first stream alone"
		}
	case probes.ReasonGoawayProcessed:
		// Tomcat may have sent the answer's head (47 bytes were seen) before its other thread
		// reset the stream: what counts is that no whole answer came.
		if peer.Name != "tomcat10" || g.Goaway.IsZero() || g.Seen || g.Reply >= len(twoDays) || a.Goaway == nil || a.Goaway.LastStream < 3 ||
			peer.CAFile == "" && g.Covered != a.Goaway.LastStream {
			return "want a GOAWAY that came after the request left and speaks of its stream"
		}
	default:
		return "no reason that is true of this server"
	}
	return ""
}

// between reports whether the GOAWAY may have come between perch's look and its
// write, of which it cannot know. And a busy kernel stamps a packet a while before it
// hands it on.
func between(a probes.Attempt, g goodbye) bool {
	return !g.Goaway.Before(a.Started.Add(-10 * time.Millisecond))
}

// tally gathers what a server did, and how far perch was from it.
type tally struct {
	age, notify, fin []time.Duration // of the GOAWAY; behind it
	at, aged         distances       // of perch's close from the capture's: its instant, its idle age
	wrong            int
}

// closeWrong holds the close that perch tells against the capture; empty: it is
// that close. How far the two are apart is told for all of them together.
func (l *tally) closeWrong(o probes.Observation, g goodbye) string {
	c, warm := o.Close, o.Attempts[0]
	if c == nil || c.How != probes.HowGoaway {
		return "want a close by GOAWAY"
	}
	behind := g.behind(c)
	at, aged := without(c.At.Sub(g.Goaway), behind), without(c.Age-g.Goaway.Sub(g.Answered), behind)
	l.at.add(at, at, c.Resolution)
	// An age begins when perch has read the answer, and it says how late it did.
	l.aged.add(aged, aged+warm.Delay, c.Resolution+warm.Delay)
	return ""
}

// behind is how far behind the GOAWAY its close_notify came, where perch found both
// at once: the kernel tells only when the later one did.
func (g goodbye) behind(c *probes.Close) time.Duration {
	if g.Notify.IsZero() || g.Notify.After(c.At.Add(c.Resolution)) {
		return 0
	}
	return g.Notify.Sub(g.Goaway)
}

// without is off, of which up to room is nobody's to know.
func without(off, room time.Duration) time.Duration { return off - min(max(off, 0), room) }

// check fails the test where any observation was wrong, or where what perch told
// of its closes was not the capture's.
func (l *tally) check(t *testing.T, peer Peer) {
	t.Helper()
	t.Logf("%s, told to close after %s: %s", peer.URL, idleTimeout, l)
	if l.wrong > 0 {
		t.Errorf("%s: %d observations were wrong", peer.URL, l.wrong)
	}
	if why := l.at.far(); why != "" {
		t.Errorf("%s: instants of closes: %s", peer.URL, why)
	}
	if why := l.aged.far(); why != "" {
		t.Errorf("%s: idle ages of closes: %s", peer.URL, why)
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
	return fmt.Sprintf("GOAWAY after %s; close_notify behind it %s; FIN behind it %s; perch's instant %s; its age %s",
		spread(l.age), spread(l.notify), spread(l.fin), l.at, l.aged)
}

// nearly is how far what perch tells of a close may be from the truth, beyond what
// perch says of its own delay.
const nearly = 20 * time.Millisecond

// distances are how far perch was from the truth, each time.
type distances struct {
	off  []time.Duration
	told []time.Duration // with what perch says of its delay put right
	over []time.Duration // those that its delay leaves unexplained
}

// add notes that perch was off by that much, and by told with its own word put
// right; late is how late it says it was, at most.
func (d *distances) add(off, told, late time.Duration) {
	d.off, d.told = append(d.off, off.Abs()), append(d.told, told.Abs())
	if off.Abs() > nearly+late {
		d.over = append(d.over, off)
	}
}

// far says why they are too far; empty: they are not. One in a hundred may be: a
// busy kernel stamps a packet a while before it hands it on, and the whole machine
// may stand still between two looks. And as "at most" excuses much, half of them
// have to be right.
func (d distances) far() string {
	n := len(d.off)
	slices.Sort(d.told)
	switch {
	case n == 0:
		return "none"
	case len(d.over) > 1+n/100:
		return fmt.Sprintf("%d of %d are farther off than %s and what perch says of its delay: by %s", len(d.over), n, nearly, d.over)
	case d.told[n/2] > nearly:
		return fmt.Sprintf("half of %d are, with what perch says of its delay put right, off by %s", n, d.told[n/2])
	}
	return ""
}

func (d distances) String() string {
	return fmt.Sprintf("off by %s, put right by its own word %s, %d beyond it", spread(d.off), spread(d.told), len(d.over))
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
