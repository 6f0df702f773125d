package plan

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// late are the refusal's problems with the deadline.
func late(err error) []Problem {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(refusal.Problems), func(p Problem) bool { return !strings.Contains(p.Text, "deadline") })
}

// hurried is a config that takes seconds to minutes, drawn at random.
func hurried(r *rand.Rand) (config.Config, Options) {
	var targets []probes.Target
	o := Options{Seed: r.Uint64(), Ends: map[string]time.Duration{}, Brackets: map[string]probes.Bracket{}}
	span := func(most int) time.Duration {
		return time.Duration(1+r.IntN(most*10)) * 100 * time.Millisecond
	}
	for n := range 1 + r.IntN(2) {
		name := string(rune('a' + n))
		one := target(name)
		one.Share, one.DailyLimit, one.MaxConnections = []float64{0.1, 0.5, 1}[r.IntN(3)], 1e6, 4+r.IntN(16)
		for k := range 1 + r.IntN(2) {
			s := idle("idle"+string(rune('0'+k)), []time.Duration{0, 30 * time.Minute}[r.IntN(2)])
			switch r.IntN(3) {
			case 0:
				for range 1 + r.IntN(4) {
					s.Holds = append(s.Holds, 3*time.Second+span(120))
				}
			case 1:
				s.KeepAlive = time.Second + span(90)
				o.Ends[name+"/"+s.Probe] = s.KeepAlive / 3
			case 2:
				s.KeepAlive = time.Second + span(90)
				s.Client = &probes.Client{Kind: "apache-httpclient-4.5"}
			}
			one.Probes = append(one.Probes, s)
		}
		if r.IntN(2) == 0 {
			one.Probes = append(one.Probes, exchange("calendar", 0))
		}
		targets = append(targets, target(name, one.Probes...))
		last := &targets[len(targets)-1]
		last.Share, last.DailyLimit, last.MaxConnections = one.Share, one.DailyLimit, one.MaxConnections
	}
	o.Deadline = span(60)
	return of(targets...), o
}

// TestWhatIsSaidToFitFits: each deadline, and each length of holds, that a refusal
// names is one with which the deadline is kept.
func TestWhatIsSaidToFitFits(t *testing.T) {
	refused, ways := 0, map[string]int{}
	named := regexp.MustCompile(`(a deadline of|one of|holds up to) ([0-9hms.]+)`)
	for seed := range uint64(400) {
		c, o := hurried(rand.New(rand.NewPCG(seed, 7)))
		_, err := New(c, o)
		for _, p := range late(err) {
			refused++
			_, fits, _ := strings.Cut(p.Text, ": ")
			for _, way := range named.FindAllStringSubmatch(fits, -1) {
				ways[way[1]]++
				d, err := time.ParseDuration(way[2])
				if err != nil {
					t.Fatal(err)
				}
				again, subject := o, ""
				with := c
				if way[1] == "holds up to" {
					with, subject = heldFor(c, p.Subject, d), p.Subject
				} else {
					again.Deadline = d
				}
				_, err = New(with, again)
				if left := late(err); slices.ContainsFunc(left, func(p Problem) bool { return subject == "" || p.Subject == subject }) {
					t.Errorf("seed %d: %s\n%s: but then %v", seed, p, way[0], err)
				}
			}
		}
	}
	if refused < 200 || len(ways) != 3 || ways["one of"] < 10 || ways["holds up to"] < 50 {
		t.Errorf("%d were refused, with %v: that proves little", refused, ways)
	}
}

// heldFor is the config with no hold of that probe longer than most.
func heldFor(c config.Config, id string, most time.Duration) config.Config {
	c.Targets = slices.Clone(c.Targets)
	for i := range c.Targets {
		list := slices.Clone(c.Targets[i].Probes)
		for k := range list {
			if list[k].ID() != id {
				continue
			}
			holds := []time.Duration{most}
			for n, hold := range list[k].Holds {
				if n > 0 {
					holds = append(holds, most)
				}
				holds[n] = min(hold, most)
			}
			list[k].Holds = holds
		}
		c.Targets[i].Probes = list
	}
	return c
}

// TestADeadlineForWhatHasToStay: the rungs around keep_alive start apart, so that one
// that ends in time alone is too late; a longer one leaves out the spare rungs, and it
// says how long all take.
func TestADeadlineForWhatHasToStay(t *testing.T) {
	one := target("api", probes.Spec{Probe: "idle", Kind: probes.KindIdle, KeepAlive: time.Minute})
	one.Share = 0.5
	_, err := New(of(one), Options{Deadline: 12 * time.Second})
	const want = "a deadline of 1m6s, or one of 2m2s with all rungs, would fit"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("%v, want %s", err, want)
	}
	for deadline, rungs := range map[time.Duration]int{66 * time.Second: 3, 122 * time.Second: 4} {
		p, err := New(of(one), Options{Deadline: deadline})
		if err != nil || len(p.Steps) != rungs {
			t.Errorf("%s: %v; want %d rungs", deadline, err, rungs)
		}
	}
	if _, err := New(of(one), Options{Deadline: 65 * time.Second}); err == nil {
		t.Error("a second less fits as well")
	}
}
