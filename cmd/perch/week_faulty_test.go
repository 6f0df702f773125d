//go:build peers

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/alert"
	"perch.example/internal/slackfake"
	"perch.example/state"
)

const weekBot = "slack: {bot_token: {from: {env: TOKEN}}, channel: '#alerts'}\nstate: {file: unused}\n"

// TestFaultyWeek: in 10,080 runs each real incident is told once as opened and
// once as resolved, in order, whatever goes wrong with Slack, with the state and
// with perch itself; again only where it cannot be known whether it was told,
// and then it says so.
func TestFaultyWeek(t *testing.T) {
	for _, how := range []struct {
		name, config string
		store        func(*testing.T) weekStore
	}{
		{"bot, ConfigMap", weekBot, func(*testing.T) weekStore { return newKubeStore() }},
		{"webhook, file", weekHook, func(t *testing.T) weekStore { return newFileStore(t) }},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			store := how.store(t)
			synctest.Test(t, func(t *testing.T) { newFaultyWeek(t, weekSeed, how.config, store).live() })
		})
	}
}

// weekStore is where the state stands between the runs of a week.
type weekStore interface {
	open(context.Context) (keeper, error)
	dies()  // the process that opened it last is gone
	spoil() // what stands there is damaged
	edit(context.Context, func(*state.Document) error) error
	disturb(*rand.Rand)
}

// faultyWeek is a week in which much goes wrong.
type faultyWeek struct {
	*world
	fake      *slackfake.Fake
	store     weekStore
	odd       *oddHours
	expected  map[incidentKey][]trouble // that people are to hear of
	edges     []time.Time               // when something begins or ends
	silences  []silence                 // added beside the runs, when they are due
	spoilAt   time.Time                 // when the state is to be damaged
	spoiled   time.Time                 // when it was; zero: not yet
	disturbed []disturbance
	added     []string // ids of silences
	deaths    map[moment]int
	missed    int // runs that did not begin: the state could not be had
}

func newFaultyWeek(t *testing.T, seed uint64, config string, store weekStore) *faultyWeek {
	t.Helper()
	f := &faultyWeek{
		world: newWorld(t, seed, weekConfig+config, map[string]string{"HOOK": "https://hooks.slack.com/services/T/B/x", "TOKEN": "xoxb-1"}),
		store: store, expected: map[incidentKey][]trouble{}, deaths: map[moment]int{},
	}
	f.fake = slackfake.New(slackfake.Config{
		Token: "xoxb-1", Scopes: []string{"chat:write", "files:write"},
		Channels: []slackfake.Channel{{ID: "C0ALERTS1", Name: "alerts", Member: true}},
		Hooks:    []slackfake.Hook{{Path: "/services/T/B/x", Channel: "C0ALERTS1"}},
	})
	f.odd = &oddHours{dice: rand.New(rand.NewPCG(seed, 6))}
	f.fake.Script(f.odd.slack)
	f.schedule()
	store.disturb(rand.New(rand.NewPCG(seed, 7)))
	return f
}

// schedule lays troubles over the week, five hours apart, and what goes wrong
// around perch on their edges.
func (f *faultyWeek) schedule() {
	kinds := []troubleKind{troubleShort, troubleDown, troubleCertificate, troubleLimited, troubleSlow}
	idle, all := []string{"stock-api", "price-api", "map-api"}, []string{"stock-api", "price-api", "map-api", "order-api", "mail-api"}
	for slot := range 33 {
		from := f.span.from.Add(time.Duration(2+5*slot)*time.Hour + time.Duration(f.dice.IntN(3600))*time.Second)
		one := trouble{window{from, from.Add(time.Duration(40+f.dice.IntN(30)) * time.Minute)}, kinds[slot%len(kinds)]}
		among := all
		if one.kind == troubleShort {
			among = idle
		}
		targets := []string{among[f.dice.IntN(len(among))]}
		if slot%8 == 3 {
			one.kind, targets = troubleDown, []string{"stock-api", "price-api", "order-api"}
		}
		for _, target := range targets {
			f.servers[target].suffer(one)
			about := incidentKey{target, one.kind.family()}
			if slot != 5 {
				f.expected[about] = append(f.expected[about], one)
			}
			f.surround(slot, target, one)
		}
		f.edges = append(f.edges, one.from, one.to)
	}
}

// surround makes things go wrong around one trouble.
func (f *faultyWeek) surround(slot int, target string, one trouble) {
	mute := func(from, until time.Time) {
		f.silences = append(f.silences, silence{Silence: alert.Silence{ID: fmt.Sprint("slot-", slot), Match: target, From: from, Until: until}})
	}
	switch slot {
	case 5: // nobody hears of it
		mute(one.from.Add(-time.Minute), one.to.Add(30*time.Minute))
	case 10: // its end is told late
		mute(one.from.Add(25*time.Minute), one.to.Add(time.Hour))
	case 15: // its opening is told late
		mute(one.from.Add(-time.Minute), one.from.Add(25*time.Minute))
	case 20:
		f.spoilAt = one.from.Add(30 * time.Minute)
		f.odd.quiet = append(f.odd.quiet, window{one.from, f.spoilAt.Add(2 * time.Minute)})
	case 1, 4, 7, 11, 25: // Slack is down for about an hour: its opening and its end wait together
		back := one.to.Add(15 * time.Minute)
		f.odd.away = append(f.odd.away, window{one.from.Add(time.Minute), back})
		f.odd.shaky = append(f.odd.shaky, window{back, back.Add(10 * time.Minute)})
	case 9, 18: // or when it ends
		f.odd.away = append(f.odd.away, window{one.to.Add(-5 * time.Minute), one.to.Add(55 * time.Minute)})
	}
}

// live lives through the week, and then looks at what Slack holds.
func (f *faultyWeek) live() {
	for n := range weekRuns {
		if f.spoiled.IsZero() && !f.spoilAt.IsZero() && !time.Now().Before(f.spoilAt) {
			f.store.spoil()
			f.spoiled = time.Now()
		}
		f.run(n)
		f.nextMinute()
	}
	f.odd.quiet = append(f.odd.quiet, window{time.Now(), time.Now().Add(24 * time.Hour)})
	for n := range 5 { // what still waits is told
		f.run(weekRuns + n)
		f.nextMinute()
	}
	f.check()
}

// run is one process's life.
func (f *faultyWeek) run(n int) {
	p := &process{dies: f.odd.death(time.Now(), f.edges), count: map[string]int{}, fails: f.disturb}
	f.web = mortalWeb{f.fake.Transport(), p}
	defer func() {
		switch thrown := recover(); thrown {
		case nil:
		case killed{}:
			f.deaths[p.dies]++
			f.disturb(fmt.Sprintf("killed at %+v", p.dies))
			f.store.dies()
		default:
			panic(thrown)
		}
	}()
	store, err := f.store.open(f.t.Context())
	if err != nil {
		f.missed++
		return
	}
	run, err := f.pass(f.t.Context(), mortalStore{store, p}, f.beside)
	if err != nil {
		f.missed++
		f.store.dies()
		return
	}
	if n == weekRuns+4 {
		for _, problem := range run.Problems {
			f.say(n, "the last run, in which nothing goes wrong, has a problem: %s", problem.Text)
		}
	}
}

func (f *faultyWeek) disturb(why string) {
	f.disturbed = append(f.disturbed, disturbance{time.Now(), why})
}

// beside is what people do while a run is under way: they add a silence, that
// is due or that is for nothing.
func (f *faultyWeek) beside() {
	var add []silence
	f.silences = slices.DeleteFunc(f.silences, func(s silence) bool {
		due := !time.Now().Before(s.From.Add(-5 * time.Minute))
		if due {
			add = append(add, s)
		}
		return due
	})
	if f.dice.IntN(200) == 0 {
		add = append(add, silence{Silence: alert.Silence{ID: fmt.Sprint("for-nothing-", len(f.added)), Match: "nothing", From: time.Now(), Until: time.Now().Add(14 * 24 * time.Hour)}})
	}
	if len(add) == 0 {
		return
	}
	err := f.store.edit(f.t.Context(), func(d *state.Document) error {
		have, err := silencesOf(*d)
		if err != nil {
			return err
		}
		for _, s := range add {
			have[s.ID] = s
		}
		return have.put(d, time.Now())
	})
	if err != nil {
		f.t.Errorf("%s: adding a silence: %v", stamp(time.Now()), err)
	}
	for _, s := range add {
		if s.Match == "nothing" && !f.spoiled.IsZero() { // what was added before is lost with the state
			f.added = append(f.added, s.ID)
		}
	}
}

// check compares what Slack holds with the troubles that there were.
func (f *faultyWeek) check() {
	all := tellings(f.t, f.fake)
	repeats, opened, grouped := 0, 0, 0
	for _, one := range all {
		if len(one.about) >= 3 && one.opens {
			grouped++
		}
		for _, about := range one.about {
			if f.expected[about] == nil {
				f.t.Errorf("%s: %q tells what never was", stamp(one.at), one.title)
			}
		}
	}
	for about, troubles := range f.expected {
		told, again := toldOf(f.t, about, all, f.disturbed, f.spoiled)
		repeats += again
		opened += len(troubles)
		f.compare(about, troubles, told)
	}
	f.checkSilences()
	f.checkPictures()
	f.t.Logf("%d incidents (%d notices told several), %d messages told again; %d runs died (%d kinds of death), %d did not begin; %d calls to Slack, %d messages, %d pictures",
		opened, grouped, repeats, len(f.disturbed), len(f.deaths), f.missed, len(f.fake.Calls()), len(f.fake.Messages()), len(f.fake.Files()))
	if grouped == 0 || repeats == 0 || len(f.disturbed) < 50 || len(f.deaths) < 6 {
		f.t.Error("too little went wrong in this week for it to prove anything")
	}
	for _, remark := range f.fake.Remarks() {
		f.t.Errorf("Slack let pass what no program should send: %s", remark)
	}
}

// compare wants each trouble told as opened and as ended, once each, in order,
// and neither before it was so. What was open when the state was lost is opened
// once more, as something new.
func (f *faultyWeek) compare(about incidentKey, troubles []trouble, told []telling) {
	slices.SortFunc(troubles, func(a, b trouble) int { return a.from.Compare(b.from) })
	var pair []telling
	var threads [][2]telling
	next := func(opens bool, not time.Time, what trouble) {
		f.t.Helper()
		word := map[bool]string{true: "opened", false: "ended"}[opens]
		switch {
		case len(told) == 0:
			f.t.Errorf("%v of %s to %s: never told as %s", about, stamp(what.from), stamp(what.to), word)
			return
		case told[0].opens != opens || told[0].at.Before(not):
			f.t.Errorf("%v of %s to %s: want it told as %s, have %q at %s", about, stamp(what.from), stamp(what.to), word, told[0].title, stamp(told[0].at))
		case told[0].at.Sub(not) > 3*time.Hour:
			f.t.Errorf("%v of %s to %s: told as %s only at %s", about, stamp(what.from), stamp(what.to), word, stamp(told[0].at))
		}
		pair = append(pair, told[0])
		told = told[1:]
	}
	for _, one := range troubles {
		pair = nil
		next(true, one.from, one)
		if !f.spoiled.IsZero() && one.holds(f.spoiled) {
			if len(told) > 0 && told[0].marked {
				f.t.Errorf("%v: what perch forgot is told as a possible repeat", about)
			}
			pair = nil // the thread from before is known to nobody
			next(true, f.spoiled, one)
		}
		next(false, one.to, one)
		if len(pair) == 2 {
			threads = append(threads, [2]telling(pair))
		}
	}
	f.checkThreads(about, threads)
	for _, left := range told {
		f.t.Errorf("%v: told once more: %q at %s", about, left.title, stamp(left.at))
	}
}

// checkSilences: what people added beside a run is not lost by what it saves.
func (f *faultyWeek) checkSilences() {
	store, err := f.store.open(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	d, err := store.Load(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	defer f.store.dies()
	have, err := silencesOf(d)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, id := range f.added {
		if _, kept := have[id]; !kept {
			f.t.Errorf("the silence %s is lost", id)
		}
	}
	if len(f.added) < 10 {
		f.t.Errorf("%d silences were added, too few to prove anything", len(f.added))
	}
}
