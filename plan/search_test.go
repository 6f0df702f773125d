package plan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func TestSearchRungs(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	hidden := func(survived, died time.Duration) probes.Bracket {
		return probes.Bracket{Survived: survived, Died: died, How: probes.HowSilent}
	}
	tried := hidden(2*s, 3800*ms)
	tried.Tries = 3
	for _, test := range []struct {
		name    string
		known   probes.Bracket
		atOnce  int
		longest time.Duration
		want    []time.Duration
	}{
		{"five at once", hidden(2*s, 3800*ms), 16, 0, seconds(2.3, 2.6, 2.9, 3.2, 3.5)},
		{"no more than may be open", hidden(2*s, 3800*ms), 2, 0, seconds(2.6, 3.2)},
		{"none worked yet", hidden(0, 1800*ms), 16, 0, seconds(0.3, 0.6, 0.9, 1.2, 1.5)},
		{"as few as are needed", hidden(2900*ms, 3050*ms), 16, 0, seconds(2.975)},
		{"narrow: confirmed from both sides", hidden(2900*ms, 3*s), 16, 0, seconds(2.68, 3.23)},
		{"given up: confirmed", tried, 16, 0, seconds(1.85, 4.09)},
		{"no longer than there is room", hidden(2*s, 3800*ms), 16, 3 * s, seconds(2.3, 2.6, 2.9)},
		{"a close was seen", probes.Bracket{Survived: 2 * s, Died: 4 * s, Measured: 3 * s, How: probes.HowFIN}, 16, 0, nil},
		{"nothing died", probes.Bracket{Survived: 8 * s}, 16, 0, nil},
	} {
		l := &ladder{spec: probes.Spec{KeepAlive: 4 * s}, known: test.known, atOnce: test.atOnce, longest: test.longest}
		var got []time.Duration
		for _, r := range l.search() {
			got = append(got, r.hold)
			if !r.spare() || !strings.Contains(r.from, "the bracket of the last run") {
				t.Errorf("%s: %s is %q", test.name, r.hold, r.from)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestSearchKeepsTheDay: a search takes a few runs, so it need not fit all of a
// day's; what confirms it is in every run. Neither makes a plan impossible.
func TestSearchKeepsTheDay(t *testing.T) {
	known := map[string]probes.Bracket{"shop/held": {Survived: 2 * time.Second, Died: 3800 * time.Millisecond}}
	spec := probes.Spec{Target: "shop", Probe: "held", Kind: probes.KindIdle, KeepAlive: 4 * time.Second, Every: 5 * time.Minute}
	d := &desk{target: &probes.Target{Name: "shop", RateLimit: 50, Share: 1, DailyLimit: 5000, MaxConnections: 16}}
	d.clear()
	j := &job{spec: &spec, due: true}
	d.jobs = []*job{j}
	d.climb(j, Options{Brackets: known}, nil)
	d.fitDay()
	inside := 0
	for _, r := range j.rungs {
		if r.rank == rankSearch {
			inside++
		}
	}
	if daily := d.daily(); inside != searchAtOnce || daily > 5000 || daily != 4*3*288+5*3*searchRuns {
		t.Errorf("%d rungs inside, %d requests a day, want %d and %d: %q", inside, daily, searchAtOnce, 4*3*288+5*3*searchRuns, j.notes)
	}
	d.target.DailyLimit = 4 * 3 * 288
	d.fitDay()
	if got := len(j.rungs); got != 4 || d.daily() > d.target.DailyLimit || len(j.notes) == 0 || !strings.Contains(j.notes[0], "inside the bracket") {
		t.Errorf("%d rungs, %d requests a day: %q; want the four of the ladder, and a word about the others", got, d.daily(), j.notes)
	}
}

// TestASearchBreaksNoLimit: whatever is known of a path, a plan that is made
// without it is made with it, and keeps the same limits.
func TestASearchBreaksNoLimit(t *testing.T) {
	made, inside := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		spec := idle("idle", time.Duration(1+r.IntN(60))*time.Minute)
		spec.KeepAlive = time.Duration(r.IntN(90)) * time.Second
		api := target("api", spec)
		api.RateLimit, api.Share = probes.Rate(1+r.IntN(20)), 1
		api.MaxConnections, api.DailyLimit = 2+r.IntN(15), 500+r.IntN(6000)
		died := time.Duration(1 + r.Int64N(int64(2*time.Minute)))
		known := probes.Bracket{Survived: time.Duration(r.Int64N(int64(died))), Died: died, Tries: r.IntN(4), How: probes.HowSilent}
		o := Options{Seed: seed, Deadline: time.Duration(r.IntN(2)*(60+r.IntN(600))) * time.Second}
		if _, err := New(of(api), o); err != nil {
			continue
		}
		o.Brackets = map[string]probes.Bracket{"api/idle": known}
		p, err := New(of(api), o)
		if err != nil {
			t.Fatalf("seed %d: with %+v: %v", seed, known, err)
		}
		made++
		cost := p.Targets[0]
		if cost.PeakOpen > cost.MaxConnections || cost.Daily > cost.DailyLimit || p.PeakOpen > api.MaxConnections {
			t.Errorf("seed %d: %+v", seed, cost)
		}
		for _, s := range p.Steps {
			if strings.HasPrefix(s.From, "inside the bracket") {
				inside++
			}
			if o.Deadline > 0 && s.end() > o.Deadline {
				t.Errorf("seed %d: %s (%s) ends at %s, the deadline is %s", seed, s.Hold, s.From, s.end(), o.Deadline)
			}
		}
	}
	if made < 100 || inside < 100 {
		t.Errorf("%d plans, %d rungs inside a bracket: too few to tell", made, inside)
	}
}
