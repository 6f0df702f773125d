package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// people are who reads one destination: what they were told of each incident.
type people struct {
	random   *rand.Rand
	opened   map[string]int
	ended    map[string]int
	down     bool // nothing gets through
	problems []string
	kinds    map[Kind]int // how often each was read
}

func (p *people) Wants(k Kind) bool { return k != KindOngoing }

// Send loses, doubts and refuses at random, as a chat service does.
func (p *people) Send(_ context.Context, n Notice, so Receipt) (Receipt, error) {
	switch chance := p.random.IntN(20); {
	case p.down:
		return so, &SendError{Status: 503, Ambiguous: p.random.IntN(4) == 0}
	case chance == 0:
		return so, &SendError{Status: 404}
	case chance == 1:
		return so, &SendError{Status: 500, Ambiguous: true}
	case chance == 2:
		return so, &SendError{Status: 400, Content: true}
	case chance == 3:
		p.read(n)
		return so, &SendError{Status: 502, Ambiguous: true}
	}
	p.read(n)
	return so, nil
}

// read notes what a notice tells, and what is wrong with that.
func (p *people) read(n Notice) {
	p.kinds[n.Kind]++
	if len(n.About) > 1 {
		p.kinds[n.Kind+ofSeveral]++
	}
	if n.PossibleRepeat {
		p.kinds[aRepeat]++
	}
	if n.Whole {
		p.kinds[n.Kind+inFull]++
	}
	if n.Kind == KindBacklog && len(n.About) != len(n.Backlog.Entries) {
		p.problems = append(p.problems, fmt.Sprintf("%s names %d incidents, and says of %d what machines need", n.ID, len(n.Backlog.Entries), len(n.About)))
	}
	for at, e := range n.Backlog.Entries {
		if a := n.About[at]; a.Name != e.Name || !e.Ended.IsZero() != (a.State == StateResolved) {
			p.problems = append(p.problems, fmt.Sprintf("%s says %+v of %+v", n.ID, a, e))
		}
		if !e.Opened.IsZero() {
			p.open(e.Name, n, n.PossibleRepeat || e.PossibleRepeat)
		}
		if !e.Ended.IsZero() {
			p.end(e.Name, n, n.PossibleRepeat || e.PossibleRepeat)
		}
	}
	for _, a := range n.About {
		switch n.Kind {
		case KindFiring, KindFlapping:
			p.open(a.Name, n, n.PossibleRepeat)
		case KindResolved:
			p.end(a.Name, n, n.PossibleRepeat)
		case KindBacklog: // by its entries
		default:
			if p.opened[a.Name] == 0 || p.ended[a.Name] > 0 && !n.PossibleRepeat {
				p.problems = append(p.problems, fmt.Sprintf("%s is out of turn", n.ID))
			}
		}
	}
}

func (p *people) open(name string, n Notice, doubted bool) {
	if p.opened[name]++; p.opened[name] > 1 && !doubted {
		p.problems = append(p.problems, fmt.Sprintf("%s opens %s again, and does not say so", n.ID, name))
	}
	if p.ended[name] > 0 && !doubted {
		p.problems = append(p.problems, fmt.Sprintf("%s opens %s after its end", n.ID, name))
	}
}

func (p *people) end(name string, n Notice, doubted bool) {
	if p.ended[name]++; p.ended[name] > 1 && !doubted {
		p.problems = append(p.problems, fmt.Sprintf("%s ends %s again, and does not say so", n.ID, name))
	}
	if p.opened[name] == 0 {
		p.problems = append(p.problems, fmt.Sprintf("%s ends %s, which nobody was told of", n.ID, name))
	}
}

// lived is a perch whose runs may be killed at any point.
type lived struct {
	random *rand.Rand
	saved  Memory
	now    time.Time
	slack  *people
	hook   *people
	last   probes.Run          // comes again more often than not,
	flips  int                 // for so many runs in turn with one in which all is well
	outage int                 // so many runs more in which the same fails, and nobody can be told
	ever   map[string]Incident // as last saved
}

func newLived(seed uint64) *lived {
	random := rand.New(rand.NewPCG(seed, 3))
	reader := func() *people { // they are told at the same time
		return &people{random: rand.New(rand.NewPCG(random.Uint64(), 3)), opened: map[string]int{}, ended: map[string]int{}, kinds: map[Kind]int{}}
	}
	return &lived{random: random, now: noon(), slack: reader(), hook: reader(), ever: map[string]Incident{}}
}

// save keeps a memory as the state does.
func (l *lived) save(t *testing.T, m Memory) {
	t.Helper()
	content, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 1<<20 {
		t.Fatalf("the memory takes %d bytes", len(content))
	}
	l.saved = Memory{}
	if err := json.Unmarshal(content, &l.saved); err != nil {
		t.Fatal(err)
	}
	for _, i := range l.saved.Incidents {
		l.ever[i.name()] = i
	}
}

// run is one run, killed at a random point: before anything is saved, while it
// sends, or after sending and before the last save.
func (l *lived) run(t *testing.T, run probes.Run, o Options, mayDie bool) {
	t.Helper()
	dies := -1
	if mayDie {
		dies = l.random.IntN(12)
	}
	m, _ := Decide(l.saved, run, o)
	if dies == 0 {
		return
	}
	m = MarkSending(m)
	l.save(t, m)
	to := []Destination{{Name: "slack", Sender: l.slack}, {Name: "hook", Sender: l.hook}}
	if dies == 1 {
		to = to[:1]
	}
	m, _ = Deliver(t.Context(), l.saved, to, o.Now)
	if dies == 1 || dies == 2 {
		return
	}
	l.save(t, m)
}

// TestAnySequence folds random runs with accepted findings, silences, removed
// probes, troubles of several targets at once, lost and doubtful deliveries,
// outages of a day and kills at any point. Whatever happens, at each
// destination each incident is told once as opened and at most once as
// resolved, in that order, and again only where that is said; at most one
// incident of a (target, family) is open; what was to be told is told in the end.
func TestAnySequence(t *testing.T) {
	read := map[Kind]int{}
	for seed := range uint64(40) {
		l := newLived(seed)
		o := Options{
			FireAfter: 1 + l.random.IntN(2), ResolveAfter: 1 + l.random.IntN(2), Mode: ModeNotify, RemindEvery: time.Duration(l.random.IntN(3)) * 5 * time.Minute,
			Destinations: []string{"slack", "hook"},
		}
		for range 120 {
			l.pass()
			o.Now = l.now
			o.Silences, o.Known = l.silences(), l.known()
			run := l.next()
			run.Started = l.now
			l.run(t, run, o, true)
			l.check(t, seed, o)
		}
		// The end: everything is well and heard, and everybody answers.
		l.slack.down, l.hook.down = false, false
		for n := 0; n < 400 && (n < 30 || len(l.saved.Outbox) > 0); n++ {
			l.now = l.now.Add(5 * time.Minute)
			o.Now, o.Silences, o.Known = l.now, nil, nil
			run := l.well()
			run.Started = l.now
			l.run(t, run, o, false)
		}
		l.check(t, seed, o)
		l.settled(t, seed)
		for kind, n := range l.slack.kinds {
			read[kind] += n
		}
	}
	for _, kind := range []Kind{
		KindFiring, KindResolved, KindFlapping, KindSharper, KindReminder, KindDigest, KindBacklog,
		KindFiring + ofSeveral, KindResolved + ofSeveral, KindReminder + ofSeveral, KindReminder + inFull, aRepeat,
	} {
		if read[kind] == 0 {
			t.Errorf("no notice of the kind %q was read: the runs are too tame", kind)
		}
	}
}

// What people noted beside the kinds.
const (
	ofSeveral Kind = " of several"
	aRepeat   Kind = "a repeat"
	inFull    Kind = " in full"
)

// pass lets time go by, and destinations go away and come back.
func (l *lived) pass() {
	l.now = l.now.Add(5 * time.Minute)
	if l.outage == 0 && l.random.IntN(40) == 0 {
		l.outage, l.slack.down, l.hook.down = 6, true, true
	}
	if l.outage > 0 {
		l.now = l.now.Add(10 * time.Hour)
		if l.outage--; l.outage <= 1 {
			l.slack.down, l.hook.down = false, false
		}
		return
	}
	if l.random.IntN(25) == 0 {
		l.now = l.now.Add(20 * time.Hour)
	}
	for _, p := range []*people{l.slack, l.hook} {
		if l.random.IntN(15) == 0 {
			p.down = !p.down
		}
	}
}

func (l *lived) silences() []Silence {
	all := []Silence{{Match: "target0", Until: l.now.Add(time.Minute)}, {Match: "*/probe1", Until: l.now.Add(time.Minute)}, {Match: "*", Until: l.now.Add(time.Minute)}}
	if at := l.random.IntN(8); at < len(all) {
		return all[at : at+1]
	}
	return nil
}

func (l *lived) known() []string {
	if l.random.IntN(10) > 0 {
		return nil
	}
	var ids []string
	for n := range 8 {
		if l.random.IntN(4) > 0 {
			ids = append(ids, fmt.Sprintf("target%d/probe%d", n/2, n%2))
		}
	}
	return append(ids, "another/one")
}

// next is a run's outcomes: mostly those of the last.
func (l *lived) next() probes.Run {
	if l.outage > 0 {
		return l.last
	}
	if l.flips > 0 {
		if l.flips--; l.flips%2 == 0 {
			return l.well()
		}
		return l.last
	}
	switch l.random.IntN(12) {
	case 0, 1, 2:
		l.last = l.outcomes()
	case 3:
		l.last = l.sharper()
	}
	if l.random.IntN(20) == 0 {
		l.flips = 10
	}
	return l.last
}

// diagnoses are what a failure of these runs may be.
func diagnoses() []probes.Diagnosis {
	return []probes.Diagnosis{probes.DiagnosisSlow, probes.DiagnosisEarlyClose, probes.DiagnosisStalled}
}

// sharper is the last run with other diagnoses of the same failures.
func (l *lived) sharper() probes.Run {
	all := slices.Clone(l.last.Outcomes)
	for n := range all {
		if all[n].Diagnosis != "" {
			all[n].Diagnosis = diagnoses()[l.random.IntN(3)]
		}
	}
	return runOf(all...)
}

// outcomes are a run's: one target's, or the same trouble at all of them.
func (l *lived) outcomes() probes.Run {
	verdicts, families := probes.Verdicts(), probes.Families()
	one := func(target int) probes.Outcome {
		v, f := verdicts[l.random.IntN(len(verdicts))], families[l.random.IntN(3)]
		if l.random.IntN(2) == 0 {
			v = probes.VerdictPass
		}
		o := single(fmt.Sprint("target", target), fmt.Sprint("probe", l.random.IntN(2)), v, diagnoses()[l.random.IntN(3)], f)
		if v == probes.VerdictFail && l.random.IntN(5) == 0 {
			o.Accepted = march()
		}
		return o
	}
	var all []probes.Outcome
	switch l.random.IntN(3) {
	case 0: // all alike
		o := one(0)
		for n := range 4 {
			o.Target = fmt.Sprint("target", n)
			all = append(all, o)
		}
	case 1:
		return l.well()
	default:
		for range l.random.IntN(8) {
			all = append(all, one(l.random.IntN(4)))
		}
	}
	return runOf(all...)
}

func (l *lived) well() probes.Run {
	var all []probes.Outcome
	for n := range 8 {
		all = append(all, single(fmt.Sprint("target", n/2), fmt.Sprint("probe", n%2), probes.VerdictPass, "", ""))
	}
	return runOf(all...)
}

func (l *lived) check(t *testing.T, seed uint64, o Options) {
	t.Helper()
	for name, p := range map[string]*people{"slack": l.slack, "hook": l.hook} {
		if len(p.problems) > 0 {
			t.Fatalf("seed %d, %s: %s", seed, o.Now, name+": "+p.problems[0])
		}
	}
	for about, open := range openBy(l.saved) {
		if open > 1 {
			t.Fatalf("seed %d: %d incidents of %s are open", seed, open, about)
		}
	}
	if n := len(l.saved.Incidents); n > mostResolved+32 || len(l.saved.Digest.Items) > mostItems {
		t.Fatalf("seed %d: %d incidents and %d findings are remembered", seed, n, len(l.saved.Digest.Items))
	}
}

// settled: everybody knows of each announced incident that it opened and ended,
// and of no other.
func (l *lived) settled(t *testing.T, seed uint64) {
	t.Helper()
	if len(l.saved.Outbox)+len(l.saved.Muted)+len(l.saved.Open()) > 0 {
		t.Fatalf("seed %d: %d notices wait, %d are muted, %d incidents are open", seed, len(l.saved.Outbox), len(l.saved.Muted), len(l.saved.Open()))
	}
	for name, i := range l.ever {
		for where, p := range map[string]*people{"slack": l.slack, "hook": l.hook} {
			if i.Announced != (p.opened[name] > 0) || i.Announced != (p.ended[name] > 0) {
				t.Fatalf("seed %d: %s at %s: announced %v, told %d times as opened and %d as ended", seed, name, where, i.Announced, p.opened[name], p.ended[name])
			}
		}
	}
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
