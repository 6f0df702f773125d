package alert

import (
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// Backlog is what could not be told in time, a line an incident. It is kept
// with its notice, so that what turns late after it can be added.
type Backlog struct {
	Entries []Entry `json:"entries,omitempty"` // in the order in which they were decided
	More    int     `json:"more,omitempty"`    // incidents for which there was no room
	Others  int     `json:"others,omitempty"`  // reminders, sharper evidence, digests: told in a number
}

// Entry is what a backlog says of one incident.
type Entry struct {
	Name   string    `json:"name"`
	What   string    `json:"what"`
	Opened time.Time `json:"opened,omitzero"` // zero: its opening was told before
	Ended  time.Time `json:"ended,omitzero"`  // zero: its end was not decided, or is told after it
	// PossibleRepeat says that some of it may have been delivered before.
	PossibleRepeat bool `json:"possible_repeat,omitempty"`
}

const (
	// waitsAtMost is how long a notice waits to be told by itself.
	waitsAtMost = 24 * time.Hour
	mostEntries = 60
	maxEntries  = 2700 // a section of them
)

// sumUpBacklog puts the notices that waited for too long into one, for each
// destination and each of its channels: after an outage nobody is flooded. A
// destination that takes no sums is told each end by itself.
func (m *Memory) sumUpBacklog(run probes.Run, o Options) {
	for _, destination := range o.Destinations {
		if slices.Contains(o.NoBacklog, destination) {
			m.dropOutlived(destination, o.Now)
			continue
		}
		var channels []string
		for _, n := range m.Outbox {
			if !slices.Contains(channels, n.Channel) {
				channels = append(channels, n.Channel)
			}
		}
		for _, channel := range channels {
			late := m.late(destination, channel, o.Now)
			if len(late) > 1 || len(late) == 1 && m.Outbox[late[0]].sumsUpAlone() {
				m.replace(destination, late, run, o)
			}
		}
	}
}

// sumsUpAlone reports whether a sum of it alone tells its incidents: perhaps
// the other side refuses what it says, and takes fewer words.
func (n Notice) sumsUpAlone() bool {
	return n.Kind == KindFiring || n.Kind == KindFlapping || n.Kind == KindResolved
}

// late returns the places of what is to be summed up: what waited for too long,
// an earlier sum, whatever its age, and all that tells of the same incidents:
// the end of one must not overtake the sum that says that it began, nor the sum
// what says something of one in between.
func (m *Memory) late(destination, channel string, now time.Time) []int {
	var waiting, places []int
	for i, n := range m.Outbox {
		way, waits := n.way(destination)
		told := n.Kind == KindBacklog && slices.Contains(way.Done, PartMessage) // but for the roots that it ends
		if waits && n.Channel == channel && !told {
			waiting = append(waiting, i)
		}
	}
	summed := map[string]bool{}
	for before := -1; before < len(places); { // until nothing is added
		before = len(places)
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			n := m.Outbox[i]
			names := n.names()
			shares := slices.ContainsFunc(names, func(name string) bool { return summed[name] })
			if n.Kind != KindBacklog && now.Sub(n.Decided) <= waitsAtMost && !shares {
				return false
			}
			places = append(places, i)
			for _, name := range names {
				summed[name] = true
			}
			return true
		})
	}
	slices.Sort(places)
	return places
}

// tells reports whether a notice tells an incident.
func (n Notice) tells(incident string) bool {
	return slices.ContainsFunc(n.Backlog.Entries, func(e Entry) bool { return e.Name == incident }) ||
		slices.ContainsFunc(n.About, func(a About) bool { return a.Name == incident })
}

// names are those of the incidents that a notice tells, each once.
func (n Notice) names() []string {
	var names []string
	for _, e := range n.Backlog.Entries {
		names = append(names, e.Name)
	}
	if len(names) > 0 {
		return names
	}
	for _, a := range n.About {
		names = append(names, a.Name)
	}
	return names
}

// replace puts one backlog at the first of the places, and takes the ways to
// the destination from what it sums up. What was told but for its pictures is
// not told again.
func (m *Memory) replace(destination string, places []int, run probes.Run, o Options) {
	var sum Backlog
	var about []About
	told, owed := true, map[string]Way{}
	first := places[0]
	decided, channel := m.Outbox[first].Decided, m.Outbox[first].Channel
	for _, i := range places {
		n := &m.Outbox[i]
		way, _ := n.way(destination)
		if !way.told() {
			told = told && n.Told
			sum.add(*n, way.PossibleRepeat)
			about = append(about, n.About...)
			n.owed(Way{Destination: destination, PossibleRepeat: n.Whole && way.PossibleRepeat}, owed)
		}
		if n.Decided.Before(decided) {
			decided = n.Decided
		}
		n.Told = true // the sum answers for it: should the others leave, it is not told beside that
		n.Ways = slices.DeleteFunc(n.Ways, func(w Way) bool { return w.Destination == destination })
	}
	m.owe(owed)
	sum.bound()
	if len(sum.Entries) > 0 || sum.Others > 0 {
		n := backlogNotice(sum, run, o)
		n.About = m.aboutAll(sum, about)
		n.Severity = highest(n.About)
		n.ID = strings.Join([]string{string(KindBacklog), destination, channel, o.Now.UTC().Format(time.RFC3339Nano)}, " ")
		n.Decided, n.Channel, n.Ways, n.Told = decided, channel, ways([]string{destination}), told
		m.Outbox = slices.Insert(m.Outbox, first, n)
	}
	m.Outbox = slices.DeleteFunc(m.Outbox, func(n Notice) bool { return len(n.Ways) == 0 })
}

// add sums up one more notice.
func (b *Backlog) add(n Notice, doubted bool) {
	if n.Whole { // of what the sum holds; it is told anew
		return
	}
	if n.Kind == KindBacklog {
		for _, e := range n.Backlog.Entries {
			e.PossibleRepeat = e.PossibleRepeat || doubted
			b.put(e)
		}
		b.More += n.Backlog.More
		b.Others += n.Backlog.Others
		return
	}
	about := n.About
	if len(about) == 0 { // the format before
		name, _, _ := strings.Cut(n.ID, " ")
		about = []About{{Name: name, Target: n.Target, Trouble: trouble(n.Diagnosis)}}
	}
	for _, a := range about {
		e := Entry{Name: a.Name, What: shorten(clean(a.Target), 80, "…") + ": " + shorten(clean(a.Trouble), 120, "…"), PossibleRepeat: doubted}
		switch n.Kind {
		case KindFiring, KindFlapping:
			e.Opened = n.Decided
			if !a.Since.IsZero() {
				e.Opened = a.Since
			}
		case KindResolved:
			e.Ended = n.Decided
			if !a.Ended.IsZero() {
				e.Ended = a.Ended
			}
		default:
			b.Others++
			return
		}
		b.put(e)
	}
}

// put adds what is known of an incident to its entry, or makes one.
func (b *Backlog) put(e Entry) {
	at := slices.IndexFunc(b.Entries, func(have Entry) bool { return have.Name == e.Name })
	if at < 0 {
		b.Entries = append(b.Entries, e)
		return
	}
	have := &b.Entries[at]
	have.PossibleRepeat = have.PossibleRepeat || e.PossibleRepeat
	if have.Opened.IsZero() {
		have.Opened = e.Opened
	}
	if !e.Ended.IsZero() {
		have.Ended = e.Ended
	}
}

// bound keeps what matters most where there is no room for all: the oldest of
// those that opened and are over go first.
func (b *Backlog) bound() {
	for _, goes := range []func(Entry) bool{
		func(e Entry) bool { return !e.Opened.IsZero() && !e.Ended.IsZero() },
		func(Entry) bool { return true },
	} {
		excess := len(b.Entries) - mostEntries
		b.Entries = slices.DeleteFunc(b.Entries, func(e Entry) bool {
			if excess <= 0 || !goes(e) {
				return false
			}
			excess--
			b.More++
			return true
		})
	}
}

// backlogNotice tells what could not be told in time: first what may still be
// open.
func backlogNotice(b Backlog, run probes.Run, o Options) Notice {
	var open, over, ended []string
	for _, e := range b.Entries {
		switch {
		case e.Ended.IsZero():
			open = append(open, e.line())
		case e.Opened.IsZero():
			ended = append(ended, e.line())
		default:
			over = append(over, e.line())
		}
	}
	what := "no notice arrived"
	if len(b.Entries)+b.More+b.Others == 1 { // others may have arrived
		what = "this could not be told"
	}
	n := Notice{
		Kind: KindBacklog, Backlog: b,
		Title:   shorten("BACKLOG: "+counted(len(b.Entries)+b.More, "incident")+" while notices could not be delivered", maxTitle, "…"),
		Summary: shorten("For more than "+span(waitsAtMost)+" "+what+" here"+backlogCounts(len(open), len(over), len(ended))+".", maxSummary, "…"),
		Links:   links(Link{"Dashboard", dashboard(o, run, place{})}),
		Trail:   trail(run, ""),
	}
	var also []string
	if b.More > 0 {
		also = append(also, counted(b.More, "more incident")+", for which there is no room here")
	}
	if b.Others > 0 {
		also = append(also, counted(b.Others, "notice")+" of other kinds: reminders, sharper evidence, digests")
	}
	n.Sections = slices.Concat(
		section("Opened; what still fails follows in full, and a later message says when it is over", FormList, maxEntries, open),
		section("Opened, and over", FormList, maxEntries, over),
		section("Over; told before as opened", FormList, maxEntries/2, ended),
		section("Also", FormList, maxFacts, also),
	)
	return n
}

// backlogCounts say how many of the incidents may still be open.
func backlogCounts(open, over, ended int) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{open, "opened and may still be open"}, {over, "opened and ended"}, {ended, "ended, told before as opened"}} {
		if part.n > 0 {
			parts = append(parts, counted(part.n, "incident")+" "+part.what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// line says one incident with its times.
func (e Entry) line() string {
	text := e.What + ": "
	switch {
	case e.Ended.IsZero():
		text += "since " + clock(e.Opened)
	case e.Opened.IsZero():
		text += "over at " + clock(e.Ended)
	default:
		text += clock(e.Opened) + " to " + clock(e.Ended) + ", " + lasted(e.Ended.Sub(e.Opened))
	}
	if e.PossibleRepeat {
		text += " (this may be a repeat)"
	}
	return text
}
