package alert

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"perch.example/probes"
)

// shortestIdle is the least that a notice asks perch idle to hold: below it the
// requests that belong to a hold may not fit into the rate that it keeps to.
const shortestIdle = 10 * time.Second

// checks say how to look now, and how to be left in peace.
// A preview is not sent, so there is nothing to mute.
func checks(i Incident, lead probes.Outcome, kind Kind, o Options) []string {
	lines := again(i, kind, o)
	// perch idle asks with a GET, which is nothing that a POST's URL is for.
	if address := publicURL(lead.Notice.URL); address != "" && i.Family == probes.FamilyConnection && lead.Method != http.MethodPost {
		idle := "`" + o.perch() + " idle " + quoted(address) + flagsOf(lead) + longest(lead, o) + "`" + withQuery(lead) + " measures this path's idle timeout"
		if o.Beside == "" {
			lines = append(lines, idle)
		} else {
			lines = append([]string{idle + " now"}, lines...)
		}
	}
	if kind == KindPreview {
		return lines
	}
	what := i.Target
	if len(i.Probes) == 1 {
		what = i.Probes[0]
	}
	return append(lines, mute(what, o))
}

// again says what tries the incident's probes once more.
func again(i Incident, kind Kind, o Options) []string {
	if o.Beside != "" {
		return []string{byItself(i, o)}
	}
	line := "`" + command(i, o) + "` runs it again now"
	if kind != KindPreview { // of a run that nothing remembers
		line += "; it counts as a run"
	}
	return []string{line}
}

// byItself says when a perch that runs for long tries again. Another run is
// refused meanwhile: the state has one writer.
func byItself(i Incident, o Options) string {
	line := "perch serve runs it again by itself"
	if every := cmp.Or(i.Every, i.Apart); every > 0 {
		line += ", within " + probes.Spoken(every)
	}
	return line + "; its log says what came of it. No perch run goes beside it: they would share one state"
}

// longest are perch idle's flags for the hold that failed. Where perch run can
// try the very rung again, perch idle looks at the whole path instead.
func longest(lead probes.Outcome, o Options) string {
	if o.Beside == "" || lead.Hold <= 0 {
		return ""
	}
	hold := (lead.Hold + time.Second - 1).Truncate(time.Second)
	return " --max " + probes.Spoken(max(hold, shortestIdle))
}

// withQuery says that the probe's query belongs to the URL. It may hold keys, so nobody
// is shown it.
func withQuery(lead probes.Outcome) string {
	if !lead.Notice.Query {
		return ""
	}
	return ", its URL with the probe's query added,"
}

// flagsOf are those with which perch idle goes the probe's own way.
func flagsOf(lead probes.Outcome) string {
	text := ""
	for _, f := range lead.Notice.Idle {
		text += " " + quoted(f)
	}
	return text
}

// mute says how to be left in peace for a while: nothing is told, perch goes on.
func mute(what string, o Options) string {
	return "`" + o.perch() + " silence add" + withConfig(o.Config) + " " + quoted(what) + " --for 2h --reason \"...\"` mutes it for 2 hours; perch goes on measuring"
}

// perch is how a command of perch begins.
func (o Options) perch() string { return cmp.Or(o.Beside, "perch") }

func withConfig(config string) string {
	if config == "" {
		return ""
	}
	return " --config " + quoted(config)
}

func checkHeading(kind Kind) string {
	if kind == KindPreview || kind == KindResolved {
		return "Check now"
	}
	return "Check now, or mute"
}

// command runs the incident's probes again. It is to be pasted, so it is kept
// short enough not to be cut.
func command(i Incident, o Options) string {
	const most = 3
	text := "perch run" + withConfig(o.Config)
	if len(i.Probes) > most {
		return text + " --only " + quoted(i.Target) + " --all"
	}
	for _, id := range i.Probes {
		text += " --only " + quoted(id)
	}
	return text + " --all"
}

// quoted makes one word of a shell's out of a text.
func quoted(text string) string {
	text = clean(text)
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
