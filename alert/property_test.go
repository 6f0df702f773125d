package alert

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestAnySequence folds random runs, keeping the memory as JSON between them
// and losing random deliveries. Whatever happens, each incident is told once
// as opened and at most once as resolved, in that order; at most one incident
// of a (target, family) is open; none is lost.
func TestAnySequence(t *testing.T) {
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 3))
		var m Memory
		told := map[string]int{} // incident -> how far: 1 opened, 2 resolved
		o := options(0)
		o.FireAfter, o.ResolveAfter = 1+random.IntN(3), 1+random.IntN(3)
		for n := range 60 {
			o.Now = options(n).Now
			var notices []Notice
			if n%7 == 0 {
				m = remember(t, m)
			}
			m, notices = Decide(m, at(randomRun(random), n), o)
			for _, notice := range notices {
				if random.IntN(4) == 0 {
					m = m.untold(notice.ID, "slack", nil, random.IntN(2) == 0)
					break // what comes behind must wait
				}
				m = m.told(notice.ID, "slack")
				if err := tell(told, notice); err != nil {
					t.Fatalf("seed %d run %d: %v", seed, n, err)
				}
			}
			for about, open := range openBy(m) {
				if open > 1 {
					t.Fatalf("seed %d run %d: %d incidents of %s are open", seed, n, open, about)
				}
			}
		}
		for _, notice := range m.Outbox {
			if err := tell(told, notice); err != nil {
				t.Fatalf("seed %d, what still waits: %v", seed, err)
			}
		}
		for _, i := range m.Incidents {
			want := map[State]int{StatePending: 0, StateFiring: 1, StateResolved: 2}[i.State]
			if told[i.name()] != want {
				t.Fatalf("seed %d: %s is %s, and people were told %d of 2", seed, i.name(), i.State, told[i.name()])
			}
		}
	}
}

// tell notes a delivered notice, and fails when it is out of turn.
func tell(told map[string]int, n Notice) error {
	name, kind, _ := strings.Cut(n.ID, " ")
	turn := map[string]int{string(KindFiring): 1, string(KindFlapping): 1, string(KindResolved): 2}[kind]
	if told[name] != turn-1 {
		return fmt.Errorf("%s told after %d notices of it", n.ID, told[name])
	}
	told[name] = turn
	return nil
}

// remember takes a memory through the state.
func remember(t *testing.T, m Memory) Memory {
	t.Helper()
	content, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Memory
	if err := json.Unmarshal(content, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func openBy(m Memory) map[string]int {
	open := map[string]int{}
	for _, i := range m.Incidents {
		if i.State != StateResolved {
			open[i.Target+"/"+string(i.Family)]++
		}
	}
	return open
}

func randomRun(random *rand.Rand) probes.Run {
	var outcomes []probes.Outcome
	verdicts, families := probes.Verdicts(), probes.Families()
	for range random.IntN(6) {
		v := verdicts[random.IntN(len(verdicts))]
		if random.IntN(2) == 0 {
			v = probes.VerdictPass
		}
		f := families[random.IntN(3)]
		if v == probes.VerdictPass {
			f = ""
		}
		outcomes = append(outcomes, single(fmt.Sprint("target", random.IntN(2)), fmt.Sprint("probe", random.IntN(2)), v, probes.DiagnosisSlow, f))
	}
	return runOf(outcomes...)
}
