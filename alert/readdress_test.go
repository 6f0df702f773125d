package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// answers is a destination that answers as it is told to, and keeps what
// arrived.
type answers struct {
	err error
	got []Notice
}

func (a *answers) Wants(k Kind) bool { return k != KindOngoing }

func (a *answers) read(n Notice) error {
	if a.err == nil {
		a.got = append(a.got, n)
	}
	return a.err
}

// kinds are what arrived.
func (a *answers) kinds() string {
	var all []string
	for _, n := range a.got {
		all = append(all, string(n.Kind))
	}
	return strings.Join(all, " ")
}

// telling is a perch of several destinations, in one run after the other.
type telling struct {
	m   Memory
	now time.Time
	o   Options
	to  map[string]*answers
}

func newTelling(names ...string) *telling {
	o := options(0)
	o.FireAfter, o.ResolveAfter = 1, 1
	all := &telling{now: noon(), o: o, to: map[string]*answers{}}
	for _, name := range names {
		all.to[name] = &answers{}
	}
	return all
}

// run is a run, some time after the last one, told to those destinations.
func (a *telling) run(t *testing.T, later time.Duration, run probes.Run, destinations ...string) {
	t.Helper()
	a.now = a.now.Add(later)
	a.o.Now, a.o.Destinations, run.Started = a.now, destinations, a.now
	a.m, _ = Decide(remember(t, a.m), run, a.o)
	var to []Destination
	for _, name := range destinations {
		to = append(to, Destination{Name: name, Sender: senderFunc(a.to[name].read)})
	}
	a.m, _ = Deliver(t.Context(), MarkSending(a.m), to, a.now)
}

// TestADestinationLeaves: what waited for it alone goes to the others where it
// was told nowhere, and is not told a second time where it was.
func TestADestinationLeaves(t *testing.T) {
	const aDay, tick = 25 * time.Hour, 5 * time.Minute
	tests := []struct {
		name      string
		slackDown bool
		later     time.Duration // until the hook leaves; in between it is down
		want      string        // what slack was told in all
	}{
		{"told at the other one", false, tick, "firing"},
		{"told nowhere", true, tick, "firing"},
		{"told at the other one, and late", false, aDay, "firing firing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newTelling("slack", "hook")
			a.to["hook"].err = &SendError{Status: 503}
			if tt.slackDown {
				a.to["slack"].err = &SendError{Status: 404}
			}
			a.run(t, 0, incident(), "slack", "hook")
			if tt.later == aDay { // the hook's backlog
				b := incident()
				for n := range b.Outcomes {
					b.Outcomes[n].Target = "another"
				}
				a.run(t, tick, runOf(append(incident().Outcomes, b.Outcomes...)...), "slack", "hook")
				a.run(t, aDay, runOf(), "slack", "hook")
				if len(a.m.Outbox) != 1 || a.m.Outbox[0].Kind != KindBacklog {
					t.Fatalf("%d notices wait, want a backlog", len(a.m.Outbox))
				}
			}
			a.to["slack"].err = nil
			a.run(t, tick, runOf(), "slack")
			if got := a.to["slack"].kinds(); got != tt.want || len(a.m.Outbox) > 0 {
				t.Errorf("slack was told %q, want %q; %d wait", got, tt.want, len(a.m.Outbox))
			}
		})
	}
}

// TestABacklogOfAGoneDestination is told where nobody knows it, and says that
// it may be a repeat: the others may have been told one by one.
func TestABacklogOfAGoneDestination(t *testing.T) {
	a := newTelling("slack", "hook")
	a.to["hook"].err = &SendError{Status: 503}
	other := incident()
	for n := range other.Outcomes {
		other.Outcomes[n].Target = "another"
	}
	a.run(t, 0, runOf(append(incident().Outcomes, other.Outcomes...)...), "hook")
	a.run(t, 25*time.Hour, runOf(), "hook")
	a.run(t, time.Hour, runOf(), "slack")
	if got := a.to["slack"].got; len(got) != 1 || got[0].Kind != KindBacklog || !got[0].PossibleRepeat {
		t.Errorf("slack was told %+v, want the backlog as a possible repeat", got)
	}
}

// TestRemindersPastABrokenDestination: those who are up to date are reminded;
// whoever is not hears first what waits.
func TestRemindersPastABrokenDestination(t *testing.T) {
	a := newTelling("slack", "hook")
	a.o.RemindEvery = time.Hour
	a.to["hook"].err = &SendError{Status: 404}
	for range 4 {
		a.run(t, time.Hour, incident(), "slack", "hook")
	}
	if got := a.to["slack"].kinds(); got != "firing reminder reminder reminder" {
		t.Errorf("slack was told %q", got)
	}
	if len(a.m.Outbox) != 1 || a.m.Outbox[0].Kind != KindFiring {
		t.Errorf("for the hook wait %+v, want the opening alone", a.m.Outbox)
	}
	a.to["slack"].err = &SendError{Status: 404}
	a.run(t, time.Minute, mended(), "slack", "hook")
	a.run(t, 2*time.Hour, incident(), "slack", "hook")
	a.run(t, 2*time.Hour, incident(), "slack", "hook")
	for _, n := range a.m.Outbox {
		if n.Kind == KindReminder {
			t.Errorf("%s waits behind its own opening", n.ID)
		}
	}
	if at := a.m.Open()[0].Heard; !at.Equal(a.now) {
		t.Errorf("last heard at %s, want now: that it is open goes without saying", at)
	}
}

// TestASumAnswersForWhatItSumsUp: where it told the end, the end that waits for
// another destination is not told there a second time when that one leaves.
func TestASumAnswersForWhatItSumsUp(t *testing.T) {
	a := newTelling("slack", "hook")
	a.to["slack"].err = &SendError{Status: 503}
	a.run(t, 0, incident(), "slack", "hook")
	a.to["hook"].err = &SendError{Status: 503}
	a.run(t, 25*time.Hour, mended(), "slack", "hook")
	a.to["slack"].err = nil
	a.run(t, time.Minute, mended(), "slack", "hook")
	if got := a.to["slack"].kinds(); got != "backlog" || len(a.m.Outbox) != 1 {
		t.Fatalf("slack was told %q, and %d wait; want a backlog, and the end for the hook", got, len(a.m.Outbox))
	}
	a.run(t, time.Minute, mended(), "slack")
	if got := a.to["slack"].kinds(); got != "backlog" || len(a.m.Outbox) > 0 {
		t.Errorf("slack was told %q", got)
	}
}

// TestASumOfAGoneDestinationBesideWhatWaits: whoever gets both is told that it
// may be a repeat, and what is over is not said to be open.
func TestASumOfAGoneDestinationBesideWhatWaits(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		a := newTelling("hook", "pager")
		a.to["hook"].err = &SendError{Status: 503}
		a.run(t, 0, several(1, probes.VerdictFail, nil), "hook", "pager")
		a.run(t, time.Minute, several(2, probes.VerdictFail, nil), "hook")
		a.run(t, 25*time.Hour, several(2, probes.VerdictFail, nil), "hook")
		a.to["pager"].err = &SendError{Status: 503}
		a.run(t, time.Minute, several(2, probes.VerdictPass, nil), "hook", "pager")
		for n := range a.m.Outbox {
			if elsewhere && a.m.Outbox[n].Kind == KindBacklog {
				a.m.Outbox[n].Channel = "#elsewhere"
			}
		}
		a.to["pager"].err, a.to["pager"].got = nil, nil
		a.run(t, time.Minute, runOf(), "pager")
		for _, n := range a.to["pager"].got {
			marked := n.PossibleRepeat
			for at, e := range n.Backlog.Entries {
				marked = marked || e.PossibleRepeat
				if (n.About[at].State == StateResolved) != !e.Ended.IsZero() {
					t.Errorf("%s says %s of %+v", n.ID, n.About[at].State, e)
				}
			}
			if !marked {
				t.Errorf("%s does not say that it may be a repeat", n.ID)
			}
		}
		if want := map[bool]int{false: 1, true: 3}[elsewhere]; len(a.to["pager"].got) != want || len(a.m.Outbox) > 0 {
			t.Errorf("told %q, want %d; %d wait", a.to["pager"].kinds(), want, len(a.m.Outbox))
		}
	}
}
