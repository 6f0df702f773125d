package alert

import (
	"slices"
	"time"

	"perch.example/probes"
)

// maxMistakes is a section of what is wrong with a config.
const maxMistakes = 2200

// Reloaded tells, once, what perch serve made of a config that was changed under it:
// its mistakes, a line each, or with none that the config is good again. Of the run it
// takes who and where perch is. Like Decide it returns what is to be sent now, or what
// would be, and changes nothing.
func Reloaded(m Memory, mistakes []string, run probes.Run, o Options) (Memory, []Notice) {
	o = o.withDefaults()
	n := reloadedNotice(mistakes, run, o)
	if o.Mode != ModeNotify {
		return m, []Notice{n}
	}
	next := m.clone()
	next.post([]Notice{n}, sortRun(run), o)
	next.forget(o.Now)
	return next, next.due(o.Now)
}

func reloadedNotice(mistakes []string, run probes.Run, o Options) Notice {
	name := shorten(clean(run.Name), 60, "…")
	n := Notice{
		ID: "config " + o.Now.UTC().Format(time.RFC3339Nano), Kind: KindConfig, Decided: o.Now,
		Links: links(Link{"Dashboard", dashboard(o, run, place{})}), Trail: trail(run, ""),
	}
	if len(mistakes) == 0 {
		n.Title = shorten("CONFIG of perch "+name+": it is good again, and in use", maxTitle, "…")
		n.Summary = "What was changed in the config is in use since " + clock(o.Now) + "."
		return n
	}
	n.Title = shorten("CONFIG of perch "+name+" refused: the one before it stays in use", maxTitle, "…")
	n.Summary = sentence(shorten(clean(mistakes[0]), maxSummary-1, "…"))
	lines := make([]string, len(mistakes))
	for i, text := range mistakes {
		lines[i] = shorten(clean(text), maxLine, more)
	}
	n.Sections = slices.Concat(
		section("What is wrong", FormList, maxMistakes, lines),
		section("What to do", FormText, maxCheck, []string{
			"Mend the config, or put back the one before it: perch looks at its files all the time, and says when it is good again. `perch plan` shows the same mistakes. Until then perch goes on with what it had, and if it is started anew it will not run.",
		}),
	)
	return n
}
