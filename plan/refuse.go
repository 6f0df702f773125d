package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// Refusal is the error of New: everything that keeps the plan from being run.
type Refusal struct{ Problems []Problem }

// Problem is one reason to refuse.
type Problem struct {
	Where   string // file:line of what it is about; empty: nowhere in a file
	Subject string // a target, target/probe, or flag
	Text    string // what is wrong, and what would fit
}

// String is "file:line: subject: text".
func (p Problem) String() string {
	said := p.Subject + ": " + p.Text
	if p.Where == "" {
		return said
	}
	return p.Where + ": " + said
}

// Error lists the problems, one a line.
func (r *Refusal) Error() string {
	lines := make([]string, len(r.Problems))
	for i, p := range r.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (r *Refusal) add(subject, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Subject: subject, Text: fmt.Sprintf(format, args...)})
}

// wouldFit ends a problem's text: "a, or b, would fit". Empty ways are none.
func wouldFit(ways ...string) string {
	ways = slices.DeleteFunc(ways, func(w string) bool { return w == "" })
	if len(ways) == 1 {
		return ways[0] + " would fit"
	}
	return strings.Join(ways, ", or ") + ", would fit"
}

// check refuses what the target's own limits do not allow, whatever the starts.
func (d *desk) check(r *Refusal) {
	for _, j := range d.jobs {
		d.endless = j.checkRequests(r) || d.checkBurst(j, r) || d.endless
		if !j.due || j.spec.Kind != probes.KindIdle {
			continue
		}
		if d.target.MaxConnections < 2 {
			r.add(j.spec.ID(), "a rung needs 2 open connections (the held one, and its control's), max_connections is %d: %s",
				d.target.MaxConnections, wouldFit("max_connections 2"))
		}
		d.checkShortHolds(j, r)
	}
	if !d.endless {
		d.checkDaily(r)
	}
}

// checkShortHolds refuses a hold whose three requests are more than one window
// may have.
func (d *desk) checkShortHolds(j *job, r *Refusal) {
	shortest := j.rungs[len(j.rungs)-1].hold
	if d.cal.Earliest(0, Shape(j.spec, shortest)...) != Never {
		return
	}
	// Then no window meets both the warm-up and the control.
	requests, what := 3, "warm-up, reuse and control"
	if j.spec.Reflects() {
		requests, what = 4, "server reflection, warm-up, reuse and control"
	}
	fits := roundUp(d.cal.guarded+describing(j.spec)+Opening(j.spec)-ControlDelay, time.Millisecond)
	r.add(j.spec.ID(), "a hold of %s needs %d requests within %s (%s), the budget of %s/s (rate_limit %s/s x share %s) allows %d: %s",
		short(shortest), requests, short(d.cal.guarded), what, number(d.target.Budget()), number(float64(d.target.RateLimit)),
		percent(d.target.Share), d.cal.Allowed(), wouldFit("holds from "+short(fits), budgetOf(float64(requests), d.target)))
}

// budgetOf says how a target's budget becomes rate.
func budgetOf(rate float64, t *probes.Target) string {
	if limit := float64(t.RateLimit); rate <= limit {
		return "a share of " + percent(math.Ceil(rate/limit*1000-1e-6)/1000)
	}
	return fmt.Sprintf("a rate_limit of %s/s with a share of 100%%", number(rate))
}

// checkDaily refuses what the chosen probes send a day, and in this run, beyond
// the daily limit or beyond what the budget's rate gives in a day.
func (d *desk) checkDaily(r *Refusal) {
	t := d.target
	daily := 0
	for _, j := range d.jobs {
		if j.spec.Every > 0 {
			daily += j.daily()
		}
	}
	if daily > t.DailyLimit {
		r.add(t.Name, "its probes send up to %d requests a day, daily_limit is %d: %s",
			daily, t.DailyLimit, wouldFit(d.bare(), d.rarer(daily, t.DailyLimit), fmt.Sprintf("a daily_limit of %d", daily)))
	}
	if most := t.Budget() * day.Seconds(); float64(daily) > most {
		r.add(t.Name, "its probes send up to %d requests a day, the budget of %s/s gives %d: %s",
			daily, number(t.Budget()), int(most), wouldFit(d.rarer(daily, int(most)), budgetOf(float64(daily)/day.Seconds(), t)))
	}
}

// bare advises to say what an idle probe is to find out, where it does not: it then
// looks at every age, which takes many rungs.
func (d *desk) bare() string {
	for _, j := range d.jobs {
		if s := j.spec; s.Kind == probes.KindIdle && s.Every > 0 && s.KeepAlive == 0 && len(s.Holds) == 0 {
			return fmt.Sprintf("keep_alive, or a few holds, for %s, which has neither and so %s", s.ID(), count(len(j.rungs), "rung"))
		}
	}
	return ""
}

// rarer says which `every` of the costliest probe would keep a day's requests
// within limit; nothing when the others alone are too many.
func (d *desk) rarer(daily, limit int) string {
	var costliest *job
	for _, j := range d.jobs {
		if j.spec.Every > 0 && (costliest == nil || j.daily() > costliest.daily()) {
			costliest = j
		}
	}
	runs := (limit - (daily - costliest.daily())) / costliest.most()
	if runs < 1 {
		return ""
	}
	every := roundUp(day/time.Duration(runs), time.Second)
	return fmt.Sprintf("every %s for %s", short(every), costliest.spec.ID())
}

// checkUsed refuses a run for which today has no requests left.
func checkUsed(c TargetCost, r *Refusal) {
	left := c.DailyLimit - c.DailyUsed
	if c.MaxRequests <= left || c.MaxRequests == 0 {
		return
	}
	sends := fmt.Sprintf("this run sends up to %s, ", count(c.MaxRequests, "request"))
	today := fmt.Sprintf("a daily_limit of %d", c.DailyUsed+c.MaxRequests)
	switch {
	case c.DailyUsed == 0: // a whole day is not enough
		r.add(c.Target, "%sdaily_limit is %d: %s", sends, c.DailyLimit, wouldFit(today))
	case c.MaxRequests > c.DailyLimit:
		r.add(c.Target, "%sof the daily_limit of %d there are %d left today, and a whole day has too few: %s",
			sends, c.DailyLimit, max(0, left), wouldFit(today, fmt.Sprintf("from tomorrow (UTC) on one of %d", c.MaxRequests)))
	default:
		r.add(c.Target, "%sof the daily_limit of %d there are %d left today: %s", sends, c.DailyLimit, max(0, left), wouldFit("tomorrow (UTC)", today))
	}
}

// checkTimes refuses what takes longer than it may.
func (p *Plan) checkTimes(desks []*desk, e enough, r *Refusal) {
	for i, c := range p.Targets { // one for each desk
		if !desks[i].endless {
			checkUsed(c, r)
		}
	}
	var longer []string
	if deadline := e.options.Deadline; deadline > 0 && p.Wall > deadline {
		longer = e.deadlines(p)
	}
	tooLong := false
	for _, d := range desks {
		for _, j := range d.jobs {
			if !j.due || j.spec.Kind != probes.KindIdle {
				continue
			}
			tooLong = j.checkHolds(e, longer, r) || tooLong
			d.checkEvery(j, r)
		}
	}
	if len(longer) > 0 && !tooLong {
		last := p.last()
		r.add(last.Spec.ID(), "its last step starts at %s and ends %s after the run's start, the deadline is %s: %s",
			short(last.Start), short(roundUp(p.Wall, time.Second)), short(e.options.Deadline), wouldFit(longer...))
	}
	p.noteEvery(desks)
}

// checkHolds refuses a hold that could not end within the deadline even if it
// started at once, and reports whether there is one. longer are the ways out by the
// deadline.
func (j *job) checkHolds(e enough, longer []string, r *Refusal) bool {
	alone := Step{Spec: j.spec, Hold: j.longest()}
	if e.options.Deadline == 0 || alone.end() <= e.options.Deadline {
		return false
	}
	if len(longer) == 0 { // it has no place at all, which is said beside this
		longer = []string{"a deadline of " + short(roundUp(alone.end(), time.Second))}
	}
	r.add(j.spec.ID(), "a hold of %s does not end within the deadline of %s: %s",
		short(j.longest()), short(e.options.Deadline), wouldFit(append([]string{e.holds(j)}, longer...)...))
	return true
}

// checkEvery refuses a ladder that is not over when it is due again.
func (d *desk) checkEvery(j *job, r *Refusal) {
	takes := d.takes(j)
	if j.spec.Every == 0 || takes <= j.spec.Every {
		return
	}
	holds := ""
	if most := (j.spec.Every - (takes - j.longest())).Truncate(time.Second); most > 0 {
		holds = "holds up to " + short(most)
	}
	r.add(j.spec.ID(), "its rungs take %s, every is %s: %s",
		short(roundUp(takes, time.Second)), short(j.spec.Every), wouldFit("every "+short(roundUp(takes, time.Second)), holds))
}

// takes returns how long a ladder lasts, from its first warm-up to its last
// answer.
func (d *desk) takes(j *job) time.Duration {
	var first, end time.Duration
	for i, s := range stepsOf(d.steps, j.spec) {
		if i == 0 || s.Start < first {
			first = s.Start
		}
		end = max(end, s.end())
	}
	return end - first
}

// noteEvery tells when the run is longer than the `every` of a single exchange in
// it. That is allowed: the next run finds it overdue, and no ladder is longer
// than its own.
func (p *Plan) noteEvery(desks []*desk) {
	var shortest time.Duration
	for _, d := range desks {
		for _, j := range d.jobs {
			if every := j.spec.Every; j.due && every > 0 && (shortest == 0 || every < shortest) {
				shortest = every
			}
		}
	}
	if shortest > 0 && p.Wall > shortest {
		p.Notes = append(p.Notes, fmt.Sprintf("a run takes %s, longer than the shortest every (%s): what is due more often is probed once a run",
			short(p.Wall), short(shortest)))
	}
}

// last returns the step that ends last.
func (p *Plan) last() Step {
	var last Step
	for _, s := range p.Steps {
		if last.Spec == nil || s.end() > last.end() {
			last = s
		}
	}
	return last
}

func stepsOf(steps []Step, spec *probes.Spec) []Step {
	var own []Step
	for _, s := range steps {
		if s.Spec == spec {
			own = append(own, s)
		}
	}
	return own
}
