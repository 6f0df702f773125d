package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

func seconds(s ...float64) []time.Duration {
	var all []time.Duration
	for _, x := range s {
		all = append(all, time.Duration(x*float64(time.Second)))
	}
	return all
}

func rungsOf(holds ...time.Duration) []rung {
	var all []rung
	for _, hold := range holds {
		all = append(all, rung{hold: hold})
	}
	return all
}

func after(d time.Duration) probes.Limit { return probes.Limit{Mode: probes.LimitAfter, After: d} }

// limits is a client that stops and looks at these idle ages.
func limits(maxIdle, validateAfter time.Duration) *probes.Client {
	return &probes.Client{Kind: "apache-httpclient-4.5", MaxIdle: after(maxIdle), ValidateAfter: after(validateAfter)}
}

func TestLadder(t *testing.T) {
	apache := &probes.Client{Kind: "apache-httpclient-4.5"}
	packets := func(every time.Duration) *probes.Client {
		return &probes.Client{Kind: "go-net-http", MaxIdle: probes.Limit{Mode: probes.LimitNone}, TCPKeepAlive: every}
	}
	blind := &probes.Client{Kind: "apache-httpclient-4.5", MaxIdle: probes.Limit{Mode: probes.LimitNone}, ValidateAfter: probes.Limit{Mode: probes.LimitNone}}
	minute, second := time.Minute, time.Second
	tests := []struct {
		name    string
		spec    probes.Spec
		end     time.Duration
		longest time.Duration
		want    []time.Duration
	}{
		{"contract.md's example", probes.Spec{KeepAlive: minute}, 0, 0, seconds(30, 59, 61, 120)},
		{"the least tolerance", probes.Spec{KeepAlive: second}, 0, 0, seconds(0.5, 0.9, 1.1, 2)},
		{"the least keep_alive", probes.Spec{KeepAlive: 100 * time.Millisecond}, 0, 0, seconds(0.05, 0.15)},
		{"5% of keep_alive", probes.Spec{KeepAlive: 10 * second}, 0, 0, seconds(5, 9.5, 10.5, 20)},
		{"a client that looks after 2 s, which is its default", probes.Spec{KeepAlive: second, Client: apache}, 0, 0, seconds(0.5, 0.9, 1.1, 1.9, 2.1)},
		{"mission.md: 30, 59, 61, 120 s never see what the application throws", probes.Spec{KeepAlive: minute, Client: apache}, 0, 0, seconds(1.9, 2.1, 30, 59, 61, 120)},
		{"the same, once a run saw closes after 1 s", probes.Spec{KeepAlive: minute, Client: apache}, second, 0, seconds(1.5, 1.9, 2.1, 30, 59, 61, 120)},
		{"an end that differs by a millisecond gives the same rung", probes.Spec{KeepAlive: minute, Client: apache}, 999 * time.Millisecond, 0, seconds(1.5, 1.9, 2.1, 30, 59, 61, 120)},
		{"an end after which the client looks", probes.Spec{KeepAlive: minute, Client: apache}, 40 * second, 0, seconds(1.9, 2.1, 30, 59, 61, 120)},
		{"an end without a client", probes.Spec{KeepAlive: minute}, second, 0, seconds(30, 59, 61, 120)},
		{"two limits", probes.Spec{KeepAlive: minute, Client: limits(2*minute, 10*second)}, 0, 0, seconds(9.5, 10.5, 30, 59, 61, 119, 121)},
		{"a limit that is never reached", probes.Spec{KeepAlive: minute, Client: limits(20*second, 30*second)}, 0, 0, seconds(19, 21, 30, 59, 61, 120)},
		{"a limit near keep_alive", probes.Spec{KeepAlive: minute, Client: limits(59*second, 30*second)}, 0, 0, seconds(29, 31, 58, 59, 60, 61, 120)},
		{"a limit equal to keep_alive", probes.Spec{KeepAlive: minute, Client: limits(minute, 30*second)}, 0, 0, seconds(29, 31, 59, 61, 120)},
		{"a band narrower than the tolerance", probes.Spec{KeepAlive: minute, Client: limits(60500*time.Millisecond, 70*second)}, 0, 0, seconds(30, 59, 59.5, 60.25, 61, 61.5, 120)},
		{"a client that never stops nor looks, where another rung lies well inside", probes.Spec{KeepAlive: minute, Client: blind}, 10 * second, 0, seconds(30, 59, 61, 120)},
		{"the same, where none does", probes.Spec{KeepAlive: minute, Client: blind}, 45 * second, 110 * second, seconds(30, 59, 61, 90)},
		{"a band without end, within every", probes.Spec{KeepAlive: minute, Client: blind}, 50 * second, 70 * second, seconds(30, 59, 61, 70)},
		{"TCP keep-alive that the other rungs outlast", probes.Spec{KeepAlive: minute, Client: packets(45 * second)}, 0, 0, seconds(30, 59, 61, 120)},
		{"TCP keep-alive beyond them", probes.Spec{KeepAlive: minute, Client: packets(5 * minute)}, 0, 0, seconds(30, 59, 61, 120, 301)},
		{"TCP keep-alive that prevents nothing", probes.Spec{KeepAlive: minute, Client: packets(2 * time.Hour)}, 0, 0, seconds(30, 59, 61, 120)},
		{"a client of unknown kind", probes.Spec{KeepAlive: minute, Client: &probes.Client{Kind: "curl"}}, second, 0, seconds(30, 59, 61, 120)},
		{"no keep_alive", probes.Spec{}, 0, 0, seconds(4, 10, 25, 45, 70, 100, 150, 210, 270, 355)},
		{"no keep_alive, with limits", probes.Spec{Client: limits(30*second, 2*second)}, 0, 0, seconds(1.9, 2.1, 4, 10, 25, 29, 31, 45, 70, 100, 150, 210, 270, 355)},
		{"what is too long", probes.Spec{KeepAlive: minute}, 0, 108 * second, seconds(30, 59, 61)},
		{"what is needed stays", probes.Spec{KeepAlive: minute}, 0, 54 * second, seconds(30, 59, 61)},
		{"never nothing", probes.Spec{}, 0, second, seconds(4)},
	}
	for _, test := range tests {
		l := &ladder{spec: test.spec, end: test.end, longest: test.longest}
		kept, _ := l.build()
		var got []time.Duration
		for _, r := range kept {
			got = append(got, r.hold)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// randomLadder is an idle probe without holds: any keep_alive or none, and any
// client or none, as it comes or as it may be declared.
func randomLadder(r *rand.Rand) *ladder {
	age := func() time.Duration {
		// As many short ones as long ones, from 50 ms to some ten minutes.
		return time.Duration(50+r.IntN(1000)) * time.Millisecond << r.IntN(10)
	}
	limit := func() probes.Limit {
		return []probes.Limit{{}, {Mode: probes.LimitNone}, {Mode: probes.LimitAlways}, after(age())}[r.IntN(4)]
	}
	l := &ladder{}
	if r.IntN(5) > 0 {
		l.spec.KeepAlive = max(100*time.Millisecond, age())
	}
	if r.IntN(5) > 0 {
		l.spec.Client = &probes.Client{Kind: clients.Kinds()[r.IntN(len(clients.Kinds()))], MaxIdle: limit(), ValidateAfter: limit()}
		if r.IntN(2) == 0 {
			l.spec.Client.TCPKeepAlive = time.Second + age()
		}
	}
	if r.IntN(2) == 0 && l.spec.KeepAlive > 0 {
		l.end = time.Duration(1 + r.Int64N(int64(l.spec.KeepAlive)))
	}
	if r.IntN(2) == 0 {
		l.longest = age()
	}
	if r.IntN(3) == 0 {
		l.atOnce = 1 + r.IntN(8)
		l.known.Died = age()
		l.known.Survived = time.Duration(r.Int64N(int64(l.known.Died)))
	}
	return l
}

// What WithRungs names is what plans hold: whatever the last run saw and whatever
// the deadline leaves out, only a rung inside a danger band or of a search is not
// among it.
func TestWithRungs(t *testing.T) {
	named, others := 0, 0
	for seed := range uint64(2000) {
		l := randomLadder(rand.New(rand.NewPCG(seed, 10)))
		spec := idle("idle", 0)
		spec.KeepAlive, spec.Client = l.spec.KeepAlive, l.spec.Client
		c := of(target("api", spec, idle("own", 0, time.Second), exchange("get", 0)))
		got := WithRungs(c)[0].Probes
		if c.Targets[0].Probes[0].Rungs != nil || got[1].Rungs != nil || got[2].Rungs != nil || !slices.IsSorted(got[0].Rungs) {
			t.Fatalf("seed %d: %v; the config's %v", seed, got, c.Targets[0].Probes)
		}
		kept, _ := l.build()
		for _, r := range kept {
			switch {
			case slices.Contains(got[0].Rungs, r.hold):
				named++
			case spec.Client != nil && strings.Contains(r.from, "danger band"), r.rank >= rankConfirm:
				others++
			default:
				t.Errorf("seed %d: the rung of %v (%s) is not in %v", seed, r.hold, r.from, got[0].Rungs)
			}
		}
	}
	if named < 1000 || others < 10 {
		t.Errorf("only %d rungs were named, %d not", named, others)
	}
}

// Neither `every` nor a policy leaves room for what is never held.
func TestWithRungsThatFit(t *testing.T) {
	spec := idle("idle", 110*time.Second)
	spec.KeepAlive = time.Minute
	c := of(target("api", spec))
	if got, want := WithRungs(c)[0].Probes[0].Rungs, seconds(30, 59, 61); !slices.Equal(got, want) {
		t.Errorf("every 110s: %v, want %v", got, want)
	}
	c.Targets[0].Probes[0].Every, c.Policy = time.Hour, &probes.Policy{MaxHold: 100 * time.Second}
	if got, want := WithRungs(c)[0].Probes[0].Rungs, seconds(30, 59, 61); !slices.Equal(got, want) {
		t.Errorf("a policy of 100s: %v, want %v", got, want)
	}
}

// For any keep_alive, client, last run and `every`: the rungs are sorted, no two
// say the same, they straddle what they should by about the tolerance, and the
// danger bands have one.
func TestAnyLadder(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(4000) {
		l := randomLadder(rand.New(rand.NewPCG(seed, 9)))
		all, none := (&ladder{spec: l.spec, end: l.end}).build()
		kept, left := (&ladder{spec: l.spec, end: l.end, longest: l.longest}).build()
		name := fmt.Sprintf("seed %d: keep_alive %v, client %+v, end %v, longest %v: %v", seed, l.spec.KeepAlive, l.spec.Client, l.end, l.longest, kept)
		if len(none) > 0 || len(kept) == 0 {
			t.Fatalf("%s: nothing is too long for any, and something always stays", name)
		}
		for _, rungs := range [][]rung{all, kept} {
			checkOrder(t, name, rungs)
		}
		checkStraddled(t, name, l, all)
		checkBands(t, name, l, all, seen)
		for _, r := range kept {
			if l.longest > 0 && r.hold > l.longest && !r.needed() && len(kept) > 1 {
				t.Fatalf("%s: %v is too long", name, r)
			}
		}
		for _, r := range left {
			if r.hold <= l.longest || r.needed() {
				t.Fatalf("%s: %v was left out", name, r)
			}
		}
	}
	for _, what := range []string{"expected", "measured", "open"} {
		if seen[what] < 30 {
			t.Errorf("only %d ladders had a band that is %s", seen[what], what)
		}
	}
}

func checkOrder(t *testing.T, name string, rungs []rung) {
	t.Helper()
	for i, r := range rungs {
		if r.hold < leastHold || r.from == "" || i > 0 && r.hold <= rungs[i-1].hold {
			t.Fatalf("%s: rung %d, %v, is out of order", name, i, r)
		}
		// A rung that a narrow band asks for may lie beside any other.
		inBand := func(r rung) bool { return r.rank == rankExpected || r.rank == rankMeasured }
		if i > 0 && r.like(rungs[i-1]) && !inBand(r) && !inBand(rungs[i-1]) {
			t.Fatalf("%s: %v says what %v says", name, r, rungs[i-1])
		}
	}
}

// checkStraddled looks for a rung below and above keep_alive and each limit that
// the client ever reaches: merged rungs lie within 1.8 times near.
func checkStraddled(t *testing.T, name string, l *ladder, rungs []rung) {
	t.Helper()
	ages := []time.Duration{l.spec.KeepAlive}
	if c := l.spec.Client; c != nil {
		known, _ := clients.Lookup(c.Kind)
		stops, looks := known.MaxIdle(*c, 0), known.ValidateAfter(*c)
		if stops.Mode == probes.LimitAfter {
			ages = append(ages, stops.After)
		}
		if looks.Mode == probes.LimitAfter && (stops.Mode != probes.LimitAfter || looks.After < stops.After) {
			ages = append(ages, looks.After)
		}
	}
	for _, age := range ages {
		if age == 0 {
			continue
		}
		far := min(max(age/20, 100*time.Millisecond), time.Second) * 18 / 10
		below := func(r rung) bool { return r.hold < age && r.hold >= age-far }
		above := func(r rung) bool { return r.hold > age && r.hold <= age+far }
		if !slices.ContainsFunc(rungs, below) || !slices.ContainsFunc(rungs, above) {
			t.Fatalf("%s: %v is not straddled by %v", name, age, rungs)
		}
	}
}

// checkBands looks for a rung in the client's danger band on the path as it is
// expected and as it was measured.
func checkBands(t *testing.T, name string, l *ladder, rungs []rung, seen map[string]int) {
	t.Helper()
	if l.spec.Client == nil {
		return
	}
	for what, end := range map[string]time.Duration{"expected": l.spec.KeepAlive, "measured": l.end} {
		band := clients.BandOn(*l.spec.Client, clients.Path{Timeout: end})
		if band == nil {
			continue
		}
		seen[what]++
		if band.Open {
			seen["open"]++
		} else if band.To < leastHold || band.To-band.From < time.Millisecond {
			continue // nothing can be held for so short or so exactly
		}
		if !slices.ContainsFunc(rungs, func(r rung) bool { return clients.Holds(band, r.hold) }) {
			t.Fatalf("%s: no rung in the %s %s: %v", name, what, bandText(*band), rungs)
		}
	}
}

func TestWhereHoldsComeFrom(t *testing.T) {
	l := &ladder{spec: probes.Spec{KeepAlive: time.Minute, Client: limits(5*time.Minute, 2*time.Second)}, end: time.Second, longest: 270 * time.Second}
	kept, left := l.build()
	var got []string
	for _, r := range append(kept, left...) {
		got = append(got, short(r.hold)+" "+r.from)
	}
	want := []string{
		"1.5s danger band 1s to 2s, last run", "1.9s just below validate_after 2s", "2.1s just above validate_after 2s",
		"30s half of keep_alive 1m", "59s just below keep_alive 1m", "1m1s just above keep_alive 1m", "2m twice keep_alive 1m",
		"4m59s just below max_idle 5m", "5m1s just above max_idle 5m",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestApart(t *testing.T) {
	tests := []struct {
		keepAlive time.Duration
		holds     []time.Duration
		want      time.Duration
	}{
		{time.Minute, seconds(30, 120), 5 * time.Second},
		{10 * time.Second, seconds(5, 20), time.Second},
		{0, seconds(120, 2), 200 * time.Millisecond},
		{0, seconds(120, 60), 5 * time.Second},
	}
	for _, test := range tests {
		if got := apart(&probes.Spec{KeepAlive: test.keepAlive}, rungsOf(test.holds...)); got != test.want {
			t.Errorf("keep_alive %v, holds %v: %v apart, want %v", test.keepAlive, test.holds, got, test.want)
		}
	}
}
