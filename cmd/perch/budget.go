package main

import (
	"context"
	"time"

	"perch.example/plan"
	"perch.example/probes"
	"perch.example/state"
)

// What the budget must know of earlier runs, and keep for later ones.

func (p *pass) dailyLeft(now time.Time) func(string) int {
	limits := map[string]int{}
	for _, t := range p.cfg.Targets {
		limits[t.Name] = t.DailyLimit - p.doc.RequestsToday(t.Name, now)
	}
	return func(target string) int { return limits[target] }
}

// sentBefore is what earlier runs sent that may still count in a window.
func (p *pass) sentBefore(now time.Time) map[string][]plan.Sent {
	sent := map[string][]plan.Sent{}
	for _, t := range p.cfg.Targets {
		if p.runner != nil && p.runner.Knows(t.Name) {
			continue // what left, it has in its calendar
		}
		window := plan.NewCalendar(t.Budget()).Window()
		for _, left := range p.doc.Sent[t.Name].Instants() {
			// A time to come is another clock's.
			if ago := max(0, now.Sub(left.At)); ago < 2*window {
				sent[t.Name] = append(sent[t.Name], plan.Sent{Requests: left.Requests, Ago: ago})
			}
		}
	}
	return sent
}

// reserve keeps, before the first request leaves, that all of the run's may
// have left: a run that is killed must not give its requests back.
func (p *pass) reserve(ctx context.Context, now time.Time) {
	if p.store == nil {
		return
	}
	most, left := map[string]int{}, p.dailyLeft(now)
	for _, t := range p.plan.Targets {
		most[t.Target] = min(t.MaxRequests, max(0, left(t.Target)))
	}
	p.reserveTokens(most)
	if p.reserved == nil {
		p.reserved = map[*pass]state.Reservation{}
	}
	mine := state.Reservation{Most: most, Now: now, Last: now.Add(p.plan.LongestWall)}
	p.reserved[p] = mine
	ctx, cancel := context.WithTimeout(ctx, reserveWithin)
	defer cancel()
	if p.unkept = p.store.Reserve(ctx, mine); p.unkept != nil {
		p.problem(probes.PartState, p.unkept)
	}
}

// toSave is the document with what those under way have reserved: a save takes
// back what was reserved before it.
func (k *kept) toSave() state.Document {
	d := k.doc
	for _, r := range k.reserved {
		d = d.Reserved(r)
	}
	return d
}

// count keeps what the run sent, in place of what it had reserved, and drops
// what the config no longer names. Of a run over midnight all counts for the new
// day: a limit may be kept too strictly, never too loosely.
func (p *pass) count(run probes.Run) {
	delete(p.reserved, p)
	for _, b := range run.Budget {
		p.doc.AddRequests(b.Target, run.Finished, b.Requests)
		for _, at := range b.Last {
			p.doc.AddSent(b.Target, 1, at)
		}
		p.doc.KeepSent(b.Target, b.Allowed)
		p.doc.SetLeaveAlone(b.Target, b.LeaveAlone)
	}
	p.countTokens(run)
	p.doc.Prune(probesOf(p.cfg), run.Finished)
}
