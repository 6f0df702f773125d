package alert

import (
	"slices"

	"perch.example/probes"
)

// Test is the notice of `perch alert test`: nothing has happened. Of the run it
// takes who and where perch is.
func Test(o Options, run probes.Run) Notice {
	name := shorten(clean(run.Name), 60, "…")
	return Notice{
		ID: "test " + run.RunID, Kind: KindTest, Decided: o.Now,
		Title:   shorten("TEST from perch "+name+": nothing is wrong", maxTitle, "…"),
		Summary: "Somebody ran `perch alert test`. If you can read this, notices arrive here.",
		Links:   links(Link{"Dashboard", dashboard(o, run, place{})}),
		Trail:   trail(run, ""),
		Sections: slices.Concat(
			section("What this is", FormText, maxExperience, []string{
				"A test: somebody ran `perch alert test` at " + clock(o.Now) + ". Nothing failed, and nothing needs to be done.",
			}),
			section("What a real one says", FormText, maxExperience, []string{
				"FIRING, the target and its trouble; what the application experiences; since when; what was measured; what it is not; what to change; how to check and to mute. When it is over: RESOLVED, why, and the proof.",
			}),
		),
	}
}
