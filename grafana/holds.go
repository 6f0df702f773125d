package grafana

import (
	"fmt"
	"strconv"
)

func reuseHolds() []panel {
	const of = " on (target, probe, hold_seconds) "
	worked := within("target, probe, hold_seconds", "perch_holds_total", ofProbe+`,result="survived"`) +
		"\n  / " + within("target, probe, hold_seconds", "perch_holds_total", ofProbe) + " >= 0"
	return []panel{
		{
			look: lookStates, title: "What became of each hold", page: "connection-reuse", wide: 16, tall: 9, unit: "none", empty: "no idle probe",
			about: "A row for each rung. CLOSED, AS EXPECTED: it was held for longer than `keep_alive`, or where none is given than the measured timeout. CLOSED: before that, so a caller can meet it. " +
				"DIED: silence or half an answer, which no check before reuse can see. Set the client's max idle below the shortest rung that is CLOSED or DIED. " +
				"*measured band* is the rung that perch adds inside the danger band that its last run measured.",
			queries: []query{{inOrder(holdState()), "{{target}} / {{probe}} {{v_hold}}"}},
			words:   []word{{1, "OK", good}, {2, "CLOSED, AS EXPECTED", neutral}, {3, "CLOSED", warn}, {4, "DIED", bad}}, style: style{least: "10m"},
		},
		{
			look: lookGauges, title: "Reuse worked, in the time shown", wide: 8, tall: 9, unit: "percentunit", decimals: new(0.0), min: new(0.0), max: new(1.0), empty: "no idle probe",
			about: "Share of the holds of each rung that could be used again. Grey and called beyond: held for longer than `keep_alive`, or than the measured timeout, where 0% is as it should be. " +
				"A rung between 0% and 100% is a race or several servers behind one name: stay clear of it.",
			queries: []query{
				{"sort_desc(" + named("("+worked+")\n  unless"+of+beyond()) + ")", "{{probe}} {{v_hold}}"},
				{"sort_desc(" + named("("+worked+")\n  and"+of+beyond()) + ")", "{{probe}} {{v_hold}}, beyond"},
			},
			inks:  []ink{{"/, beyond$/", neutral, false}},
			steps: []step{{0, warn}, {1, good}},
		},
	}
}

// holdState is the worst that a step of time brought for each rung: 4 died, 3
// closed, 2 closed as expected, 1 survived; nothing, where no hold ended.
func holdState() string {
	grown := func(result string) string {
		return each("target, probe, hold_seconds", "perch_holds_total", ofProbe+`,result="`+result+`"`) + " > 0"
	}
	return "(" + grown("died") + ") * 0 + 4" +
		"\nor ((" + grown("closed") + ")\n  unless on (target, probe, hold_seconds) " + beyond() + ") * 0 + 3" +
		"\nor (" + grown("closed") + ") * 0 + 2\nor (" + grown("survived") + ") * 0 + 1"
}

// beyond are the rungs that are longer than what is promised, or where nothing
// is, than what was measured: their connections are expected to be closed.
func beyond() string {
	return "(" + holdLength() + "\n  > on (target, probe) group_left ()\n" +
		"  (max by (target, probe) (perch_keep_alive_expected_seconds{" + ofProbe + "}) or min by (target, probe) (perch_idle_timeout_seconds{" + ofProbe + "})))"
}

// holdLength makes a value of the label hold_seconds. Only histogram_quantile
// reads numbers from a label: the end of a bucket that holds all is its highest
// quantile.
func holdLength() string {
	one := "max by (target, probe, hold_seconds) (perch_holds_total{" + ofProbe + `,hold_seconds!="search"}) * 0 + 1`
	return `histogram_quantile(1, label_replace(` + one + `, "le", "$1", "hold_seconds", "(.*)")` +
		"\n  or " + `label_replace(` + one + `, "le", "+Inf", "", ""))`
}

// named gives rungs the label v_hold, as they are called: "30 s".
func named(expr string) string {
	expr = replaced(expr, "v_hold", "$1 s", "([0-9.]+)")
	return replaced(expr, "v_hold", "measured band", "search")
}

// replaced gives series a label that follows from their hold_seconds.
func replaced(expr, label, value, pattern string) string {
	return fmt.Sprintf("label_replace(%s, %q, %q, \"hold_seconds\", %q)", expr, label, value, pattern)
}

// inOrder makes Prometheus, which sorts series by their labels as texts, give
// rungs by their length within each probe: 9 s before 30 s before 120 s. The
// label v_digits comes after probe and target, and v_hold after it.
func inOrder(expr string) string {
	const longest = 5 // digits: a day
	for digits := 1; digits <= longest; digits++ {
		expr = replaced(expr, "v_digits", strconv.Itoa(digits), fmt.Sprintf("[0-9]{%d}([.].*)?", digits))
	}
	return replaced(named(expr), "hold_seconds", "", ".*")
}
