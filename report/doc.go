// Package report tells a run to people and programs: text for a terminal or a
// log, JSON for scripts, and a live view of what is being held. It judges
// nothing: everything it says stands in the probes.Run that it is given.
//
// Where to look: text.go puts the page together, ladder.go draws an idle
// probe's rungs, finding.go explains what is not a pass, idle.go is `perch
// idle`, json.go the JSON report, live.go the progress. words.go holds the
// English, layout.go and clean.go what every line goes through.
package report
