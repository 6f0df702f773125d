package alert

import (
	"slices"
	"strings"
	"time"
)

// hush says in an end why it is told after its time.
func hush(n Notice, s Silence) Notice {
	return afterwards(n, "Told after a silence", "while it was silenced until "+clock(s.Until)+because(s.Reason)+": so it is told only after that.")
}

// unreported says in the end of what people know of that nothing was told when
// it ended.
func unreported(n Notice) Notice {
	return afterwards(n, "Told afterwards", "while perch told nobody: so it is told only when it tells again.")
}

func afterwards(n Notice, heading, why string) Notice {
	line := "It ended at "
	if len(n.About) > 1 {
		line, why = "They ended at ", strings.ReplaceAll(strings.ReplaceAll(why, "it was", "they were"), "so it is", "so that is")
	}
	n.Sections = append(section(heading, FormText, maxCheck, []string{line + clock(n.Decided) + ", " + why}), n.Sections...)
	return n
}

// unmute returns the ends of told incidents whose silence is over. Where
// nothing is sent they wait on.
func (m *Memory) unmute(o Options) []Notice {
	if o.Mode != ModeNotify {
		return nil
	}
	var due, waiting []Notice
	for _, n := range m.Muted {
		var ids []string
		for _, about := range n.About {
			ids = append(ids, about.Probes...)
		}
		if o.muted(ids) != nil {
			waiting = append(waiting, n)
			continue
		}
		n.Decided = o.Now // until now it was not to be told: it is not late
		due = append(due, n)
	}
	m.Muted = waiting
	return joinEnds(due, o.Now)
}

// joinEnds makes one of the ends that belong into one conversation: what was
// told as one may have ended run by run.
func joinEnds(ends []Notice, now time.Time) []Notice {
	type alike struct {
		thread, channel, severity string
		by                        EndedBy
	}
	of := func(n Notice) alike {
		like := alike{thread: n.Thread, channel: n.Channel, severity: n.Severity}
		if len(n.About) > 0 {
			like.by = n.About[0].EndedBy
		}
		return like
	}
	lists := map[alike][]Notice{}
	for _, n := range ends {
		lists[of(n)] = append(lists[of(n)], n)
	}
	var out []Notice
	for _, n := range ends {
		list := lists[of(n)]
		switch joined := joinedEnd(list, now); {
		case len(list) == 0: // told by its first
		case joined == nil || n.Thread == "":
			out = append(out, n)
		default:
			out = append(out, *joined)
			lists[of(n)] = nil
		}
	}
	return out
}

// joinedEnd is one end for several notices, of three targets or more; nil: they
// are told by themselves.
func joinedEnd(list []Notice, now time.Time) *Notice {
	var about []About
	var targets, lines []string
	for _, n := range list {
		about = append(about, n.About...)
	}
	for _, a := range about {
		if !slices.Contains(targets, a.Target) {
			targets = append(targets, a.Target)
		}
		lines = append(lines, shorten(clean(a.Target), 80, "…")+": over at "+clock(a.Ended)+", after "+lasted(a.Ended.Sub(a.Since)))
	}
	if len(list) < 2 || len(targets) < fromTargets {
		return nil
	}
	n := list[len(list)-1]
	trouble := about[0].Trouble
	if slices.ContainsFunc(about, func(a About) bool { return a.Trouble != trouble }) {
		trouble = "several troubles"
	}
	n.ID = n.Thread + " " + string(KindResolved) + " " + now.UTC().Format(time.RFC3339Nano)
	n.Target, n.About, n.Charts = "", about, Charts{}
	n.Title = shorten(endedTitle(counted(len(targets), "target")+" ("+trouble+")", about[0].EndedBy), maxTitle, "…")
	n.Summary = shorten("Over while nothing was told of it: at "+someOf(targets)+".", maxSummary, "…")
	n.Sections = section("Over while nothing was told of it", FormText, maxExperience, lines)
	return &n
}
