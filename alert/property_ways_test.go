package alert

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDestinationsComeAndGo folds random runs of a perch whose config gets and
// loses destinations, and tells nobody now and then. Whatever happens, nobody is
// told twice without being told so; of each incident that was told anywhere the
// end is told somewhere; and nothing waits for ever.
func TestDestinationsComeAndGo(t *testing.T) {
	const seeds = 10
	gone := 0
	for seed := range uint64(seeds) {
		l := newLived(seed)
		names := []string{"slack", "hook", "pager"}
		all := map[string]*people{}
		for n, name := range names {
			all[name] = &people{random: rand.New(rand.NewPCG(seed, uint64(n))), opened: map[string]int{}, ended: map[string]int{}, kinds: map[Kind]int{}}
		}
		o := Options{FireAfter: 1, ResolveAfter: 1, Mode: ModeNotify, RemindEvery: time.Hour, Destinations: names}
		run := func(mayDie bool) {
			o.Now = l.now
			var to []Destination
			for _, name := range o.Destinations {
				to = append(to, Destination{Name: name, Sender: all[name]})
			}
			for _, count := range l.saved.Unaddressed(o.Destinations) {
				gone += count
			}
			outcomes := l.well()
			if mayDie {
				outcomes = l.next()
			}
			outcomes.Started = l.now
			m, _ := Decide(l.saved, outcomes, o)
			if o.Mode != ModeNotify {
				l.save(t, m)
				return
			}
			l.save(t, MarkSending(m))
			if m, _ = Deliver(t.Context(), l.saved, to, o.Now); !mayDie || l.random.IntN(10) > 0 {
				l.save(t, m)
			}
		}
		for range 80 {
			l.pass()
			for _, name := range names {
				if l.random.IntN(8) == 0 {
					all[name].down = !all[name].down
				}
			}
			if l.random.IntN(6) == 0 {
				o.Destinations = slices.Delete(slices.Clone(names), 0, 1+l.random.IntN(2))
				if l.random.IntN(2) == 0 {
					o.Destinations = names[:1+l.random.IntN(3)]
				}
			}
			o.Mode, o.Silences = ModeNotify, l.silences()
			if l.random.IntN(20) == 0 {
				o.Mode = ModeReport
			}
			run(true)
		}
		o.Mode, o.Silences, o.Destinations = ModeNotify, nil, names
		for n := 0; n < 300 && (n < 10 || len(l.saved.Outbox) > 0); n++ {
			for _, p := range all {
				p.down = false
			}
			l.now = l.now.Add(30 * time.Minute)
			run(false)
		}
		toldOnce(t, fmt.Sprint("seed ", seed), l, all)
	}
	if gone < seeds {
		t.Errorf("%d notices waited for a destination that was gone: the runs are too tame", gone)
	}
}

// toldOnce: nothing was told twice without a word, and each incident's opening
// and end were told.
func toldOnce(t *testing.T, seed string, l *lived, all map[string]*people) {
	t.Helper()
	if len(l.saved.Outbox)+len(l.saved.Muted)+len(l.saved.Open()) > 0 {
		t.Fatalf("%s: %d notices wait, %d are muted, %d incidents are open", seed, len(l.saved.Outbox), len(l.saved.Muted), len(l.saved.Open()))
	}
	opened, ended := map[string]int{}, map[string]int{}
	for name, p := range all {
		for _, problem := range p.problems {
			if strings.Contains(problem, "does not say so") || strings.Contains(problem, "after its end") || strings.Contains(problem, "what machines need") {
				t.Fatalf("%s, %s: %s", seed, name, problem)
			}
		}
		for incident, times := range p.opened {
			opened[incident] += times
		}
		for incident, times := range p.ended {
			ended[incident] += times
		}
	}
	for name, i := range l.ever {
		if i.Announced != (opened[name] > 0) || i.Announced != (ended[name] > 0) {
			t.Fatalf("%s: %s: announced %v, told %d times as opened and %d as ended", seed, name, i.Announced, opened[name], ended[name])
		}
	}
}
