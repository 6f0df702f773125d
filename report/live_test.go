package report

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/probes"
)

// screen is as much of a terminal as the live view uses: it fails the test on
// any other code, so that nothing can be left behind unseen.
type screen struct {
	t       *testing.T
	columns int
	rows    []string
	row     int
}

func (s *screen) Write(b []byte) (int, error) {
	text := string(b)
	for text != "" {
		var up int
		switch {
		case strings.HasPrefix(text, "\r"):
			text = text[1:]
		case strings.HasPrefix(text, "\x1b[J"):
			s.rows, text = s.rows[:s.row], text[3:]
		case strings.HasPrefix(text, "\x1b["):
			if n, err := fmt.Sscanf(text, "\x1b[%dA", &up); n != 1 || err != nil {
				s.t.Fatalf("unknown code in %q", text)
			}
			s.row -= up
			text = text[strings.IndexByte(text, 'A')+1:]
			if s.row < 0 {
				s.t.Fatal("the cursor left the screen")
			}
		default:
			line, rest, ended := strings.Cut(text, "\n")
			if !ended {
				s.t.Fatalf("a line without an end: %q", text)
			}
			if width(line) >= s.columns {
				s.t.Errorf("%d cells on a terminal of %d: %q", width(line), s.columns, line)
			}
			s.rows, s.row, text = append(s.rows[:s.row], line), s.row+1, rest
		}
	}
	return len(b), nil
}

func holding(step int, hold time.Duration, at time.Time) probes.Event {
	return probes.Event{
		At: at, Target: "stock-api", Probe: "calendar-idle", Step: step, What: probes.EventHolding, Hold: hold, Until: at.Add(hold),
	}
}

func TestLiveShowsHolds(t *testing.T) {
	const columns = 80
	s := &screen{t: t, columns: columns}
	l := NewLive(s, Style{Width: columns})
	at := started()
	l.Event(probes.Event{At: at, Target: "stock-api", Probe: "calendar", Step: 0, What: probes.EventStarted})
	l.Event(holding(1, 60*time.Second, at))
	l.Event(holding(2, 2*time.Minute, at))
	l.Event(holding(3, time.Hour, at))
	l.Tick(at.Add(15 * time.Second))
	check(t, s, `
holding 3 connections, 1 under way, 0 done
  stock-api/calendar       under way
  stock-api/calendar-idle  60 s    ━━━━╌╌╌╌╌╌╌╌╌╌╌╌  45 s left
  stock-api/calendar-idle  2 min   ━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌  105 s left
  stock-api/calendar-idle  1 h     ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  60 min left`)

	l.Event(probes.Event{Step: 0, What: probes.EventDone, Reason: probes.ReasonOK})
	l.Event(probes.Event{Step: 1, What: probes.EventClosed, Close: &probes.Close{Age: 30 * time.Second, How: probes.HowFIN}})
	l.Tick(at.Add(45 * time.Second))
	check(t, s, `
holding 3 connections, 1 done
  stock-api/calendar-idle  60 s    ━━━━━━━━━━━━╌╌╌╌  FIN at 30 s, 15 s left
  stock-api/calendar-idle  2 min   ━━━━━━╌╌╌╌╌╌╌╌╌╌  75 s left
  stock-api/calendar-idle  1 h     ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  59 min left`)

	l.Event(probes.Event{Step: 1, What: probes.EventDone, Reason: probes.ReasonIdleFIN})
	l.Tick(at.Add(2*time.Minute + time.Second))
	check(t, s, `
holding 2 connections, 2 done
  stock-api/calendar-idle  2 min   ━━━━━━━━━━━━━━━━  0 s left
  stock-api/calendar-idle  1 h     ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  58 min left`)

	l.Stop()
	check(t, s, "")
	l.Event(holding(4, time.Second, at))
	l.Tick(at)
	l.Stop()
	check(t, s, "")
}

func check(t *testing.T, s *screen, want string) {
	t.Helper()
	if got := strings.Join(s.rows, "\n"); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
}

// What stood on the screen before stays, and nothing is drawn without a tick.
func TestLiveLeavesTheScreenAsItWas(t *testing.T) {
	s := &screen{t: t, columns: 60}
	fmt.Fprintln(s, "$ perch run")
	l := NewLive(s, Style{Width: 60})
	l.Stop()
	check(t, s, "$ perch run")

	l = NewLive(s, Style{Width: 60})
	for i := range 40 {
		l.Event(holding(i, time.Duration(i+1)*time.Minute, started()))
		l.Tick(started())
	}
	if got := len(s.rows); got != 13 {
		t.Errorf("%d lines, want 13: a small terminal must not scroll:\n%s", got, strings.Join(s.rows, "\n"))
	}
	if got, want := s.rows[12], "  and 30 more, the last for 40 min"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l.Stop()
	check(t, s, "$ perch run")
}

func TestLiveNeverWraps(t *testing.T) {
	for _, columns := range []int{10, 30, 60, 200} {
		s := &screen{t: t, columns: columns}
		l := NewLive(s, Style{Width: columns})
		e := holding(1, time.Minute, started())
		e.Target = "在庫" + hostile() + strings.Repeat("x", 50)
		l.Event(e)
		l.Event(probes.Event{Step: 1, What: probes.EventClosed, Close: &probes.Close{Age: time.Second, How: probes.HowCloseNotify}})
		l.Tick(started())
		l.Stop()
		check(t, s, "")
	}
}

func TestLiveColour(t *testing.T) {
	var b bytes.Buffer
	l := NewLive(&b, Style{Color: true, Width: 80})
	l.Event(holding(1, time.Minute, started()))
	l.Tick(started())
	if !strings.Contains(b.String(), "\x1b[1mholding 1 connection, 0 done\x1b[0m") {
		t.Errorf("no colour in %q", b.String())
	}
}

func TestLiveIsSafeForConcurrentUse(t *testing.T) {
	l := NewLive(&screen{t: t, columns: 100}, Style{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				l.Event(holding(i*50+j, time.Minute, started()))
				l.Tick(started())
				l.Event(probes.Event{Step: i*50 + j, What: probes.EventDone, Reason: probes.ReasonOK})
			}
			l.Stop()
		})
	}
	wg.Wait()
}

// A burst's pool is held in its gap, all of it, and under way before and after.
func TestLiveShowsAPoolInItsGap(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := &screen{t: t, columns: 80}
	l := NewLive(s, Style{})
	show := func(e probes.Event) string {
		e.At, e.Target, e.Probe, e.Hold = at, "stock-api", "calendar-burst", 4*time.Minute
		l.Event(e)
		l.Tick(at.Add(time.Second))
		return s.rows[0]
	}
	for i, c := range []struct {
		event probes.Event
		want  string
	}{
		{probes.Event{What: probes.EventStarted}, "holding 0 connections, 1 under way, 0 done"},
		{probes.Event{What: probes.EventHolding, Until: at.Add(4 * time.Minute), Connections: 20}, "holding 20 connections, 0 done"},
		{probes.Event{What: probes.EventStarted}, "holding 0 connections, 1 under way, 0 done"},
		{probes.Event{What: probes.EventDone}, "holding 0 connections, 1 done"},
	} {
		if got := show(c.event); !strings.Contains(got, c.want) {
			t.Errorf("event %d: %q, want %q", i+1, got, c.want)
		}
	}
}
