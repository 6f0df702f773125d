package alert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"perch.example/probes"
)

// Digest is what was degraded since people were last told of such. A day is
// UTC's.
type Digest struct {
	Day   string       `json:"day,omitempty"` // of the last run: "2006-01-02"; empty: there was none
	Since time.Time    `json:"since,omitzero"`
	Items []DigestItem `json:"items,omitempty"`
	More  int          `json:"more,omitempty"` // findings for which there was no room
}

// DigestItem is one finding of one probe, in all the runs that had it.
type DigestItem struct {
	Target    string           `json:"target"`
	Probe     string           `json:"probe"`
	Diagnosis probes.Diagnosis `json:"diagnosis"`
	Words     string           `json:"words"` // the diagnosis, as the outcome says it
	Runs      int              `json:"runs"`
	First     time.Time        `json:"first"`
	Last      time.Time        `json:"last"`
	Message   string           `json:"message,omitempty"` // of the last run
	// Until is when its acceptance ends, and Reason why it is accepted; zero: it
	// is degraded, and not accepted.
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

const (
	mostItems   = 50   // of a digest
	maxDegraded = 2700 // a section of it; it has two at most
	maxAccepted = 2000
	maxFinding  = 240 // of what is said of one finding
	// soon is when the end of an acceptance is to be looked at.
	soon = 7 * 24 * time.Hour
)

// sumUpDay tells, in the first run of a day, what earlier days had that was
// degraded or accepted, and then counts this run's.
func (m *Memory) sumUpDay(run probes.Run, o Options) []Notice {
	var told []Notice
	if day := o.Now.UTC().Format(time.DateOnly); m.Digest.Day < day {
		if m.Digest.hasNews(o.Now) {
			told = []Notice{digestNotice(m.Digest, run, o)}
		}
		m.Digest = Digest{Day: day, Since: started(run, o.Now)}
	}
	seen := map[DigestItem]bool{}
	for _, outcome := range run.Outcomes {
		item, degraded := itemOf(outcome)
		if !degraded || seen[item.key()] || m.tells(outcome) || o.silenced(outcome.ID()) != nil {
			continue
		}
		seen[item.key()] = true
		item.First, item.Last = started(run, o.Now), started(run, o.Now)
		m.Digest.add(item)
	}
	return told
}

// hasNews reports whether there is something to tell. What is accepted for
// long is known: alone it is no message a day.
func (d Digest) hasNews(now time.Time) bool {
	return slices.ContainsFunc(d.Items, func(item DigestItem) bool {
		return item.Until.IsZero() || item.Until.Sub(now) <= soon
	})
}

// itemOf returns what a digest says of an outcome, and whether it says anything.
func itemOf(o probes.Outcome) (DigestItem, bool) {
	item := DigestItem{
		Target: o.Target, Probe: o.Probe, Diagnosis: o.Diagnosis, Words: troubleOf(o), Runs: 1, Message: clause(o.Message, maxFinding),
	}
	if o.Accepted != nil {
		item.Until, item.Reason = o.Accepted.Until, shorten(clean(o.Accepted.Reason), 100, "…")
		return item, true
	}
	return item, o.Verdict == probes.VerdictDegraded
}

// lastDay says until when it is accepted.
func (d DigestItem) lastDay() string { return probes.Accepted{Until: d.Until}.LastDay() }

// key is what makes two findings one.
func (d DigestItem) key() DigestItem {
	return DigestItem{Target: d.Target, Probe: d.Probe, Diagnosis: d.Diagnosis, Until: d.Until.UTC()}
}

// tells reports whether an open incident tells of an outcome already.
func (m Memory) tells(o probes.Outcome) bool {
	return slices.ContainsFunc(m.Incidents, func(i Incident) bool {
		return i.State == StateFiring && i.Target == o.Target && i.Family == o.Family && slices.Contains(i.Probes, o.ID())
	})
}

// add counts one run's finding.
func (d *Digest) add(item DigestItem) {
	at := slices.IndexFunc(d.Items, func(have DigestItem) bool { return have.key() == item.key() })
	switch {
	case at >= 0:
		have := &d.Items[at]
		have.Runs, have.Last, have.Message, have.Words, have.Reason = have.Runs+1, item.Last, item.Message, item.Words, item.Reason
	case len(d.Items) < mostItems:
		d.Items = append(d.Items, item)
	default:
		d.More++
	}
}

// digestNotice tells a day's findings: first what is soon accepted no more.
func digestNotice(d Digest, run probes.Run, o Options) Notice {
	degraded, ending, accepted := d.sorted(o.Now)
	n := Notice{
		ID: "digest " + d.Day, Kind: KindDigest, Decided: o.Now,
		Title:   shorten("DIGEST of "+d.Day+": "+counted(len(degraded), "finding")+" degraded, "+number(len(ending)+len(accepted))+" accepted", maxTitle, "…"),
		Summary: shorten(digestSummary(degraded, ending), maxSummary, "…"),
		Links:   links(Link{"Dashboard", dashboard(o, run, place{since: d.Since})}),
		Trail:   trail(run, ""),
	}
	first, rest := split(itemLines(degraded), maxDegraded, FormList)
	second, rest := split(rest, maxDegraded, FormList)
	if left := len(rest) + d.More; left > 0 {
		second = append(second, "… and "+counted(left, "more finding")+", for which there is no room here")
	}
	n.Sections = slices.Concat(
		section("Accepted, but not for long: from then on it fires", FormList, maxAccepted, itemLines(ending)),
		section("Degraded: the application is served, but only by luck or a retry", FormList, maxDegraded+200, first),
		section("Degraded, continued", FormList, maxDegraded+200, second),
		section("Accepted", FormList, maxAccepted, itemLines(accepted)),
	)
	return n
}

// sorted returns the degraded, the most frequent first, and the accepted, the
// first to end first: those that end soon apart.
func (d Digest) sorted(now time.Time) (degraded, ending, accepted []DigestItem) {
	for _, item := range d.Items {
		switch {
		case item.Until.IsZero():
			degraded = append(degraded, item)
		case item.Until.Sub(now) <= soon:
			ending = append(ending, item)
		default:
			accepted = append(accepted, item)
		}
	}
	slices.SortStableFunc(degraded, func(a, b DigestItem) int { return cmp.Compare(b.Runs, a.Runs) })
	byEnd := func(a, b DigestItem) int { return a.Until.Compare(b.Until) }
	slices.SortStableFunc(ending, byEnd)
	slices.SortStableFunc(accepted, byEnd)
	return degraded, ending, accepted
}

func digestSummary(degraded, ending []DigestItem) string {
	if len(ending) > 0 {
		item := ending[0]
		return fmt.Sprintf("%s (%s) is accepted until %s only.", clean(item.Target+"/"+item.Probe), clean(item.Words), item.lastDay())
	}
	item := degraded[0]
	return fmt.Sprintf("Most often: %s, %s, in %s.", clean(item.Target+"/"+item.Probe), clean(item.Words), counted(item.Runs, "run"))
}

func itemLines(items []DigestItem) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		name := shorten(clean(item.Target+"/"+item.Probe), 120, "…")
		text := name + ": " + clean(item.Words) + ", in " + counted(item.Runs, "run")
		if item.Runs == 1 {
			text += " at " + clock(item.First)
		} else {
			text += " from " + clock(item.First) + " to " + clock(item.Last)
		}
		if !item.Until.IsZero() {
			text += ". Accepted until " + item.lastDay() + because(item.Reason)
		}
		if said := clause(item.Message, min(maxFinding, maxLine-size(text)-len(". .")-1)); said != "" {
			text += ". " + capital(said)
		}
		lines[i] = sentence(text)
	}
	return lines
}
