package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
)

// decide folds the run into the alert memory. Without memory each run is the
// first: nothing can be told that would not be told again and again, so it is
// only shown.
func (p *pass) decide(run *probes.Run) {
	o := p.alertOptions(run.Finished)
	if p.store == nil {
		p.show(alert.Preview(*run, o))
		return
	}
	p.sayStranded(o)
	var notices []alert.Notice
	p.memory, notices = alert.Decide(p.memory, *run, o)
	if o.Mode != alert.ModeNotify {
		p.show(notices)
	}
	p.showMemory()
}

// sayStranded logs what waits for somebody who is not told any more, and drops
// what waits for nobody.
func (p *pass) sayStranded(o alert.Options) {
	var dropped int
	if p.memory, dropped = alert.DropUndeliverable(p.memory, o.Destinations); dropped > 0 {
		p.log.Warn("notices that waited are dropped: the config names nobody to be told any more", "notices", dropped)
	}
	if o.Mode != alert.ModeNotify {
		if waiting, oldest := p.memory.Waiting(); waiting > 0 {
			p.log.Warn("notices wait, and nothing is sent", "why", p.untold(), "notices", waiting, "since", stamp(oldest))
		}
		return
	}
	for name, waiting := range p.memory.Unaddressed(o.Destinations) {
		p.log.Warn("notices wait for a destination that the config no longer has: those with no other go to the ones that it names now", "destination", name, "notices", waiting)
	}
}

// showMemory sets the gauges that say what is open and what waits. The first
// push needs them too: it replaces what the last run pushed.
func (p *pass) showMemory() {
	p.metrics.Whole(func() {
		p.metrics.IncidentsKnown()
		for _, i := range p.memory.Open() {
			p.metrics.SetIncident(i.Target, i.Family, true)
		}
		for _, name := range destinations(p.cfg) {
			waiting, oldest := waitingFor(name, p.memory)
			p.metrics.Pending(name, waiting, oldest)
		}
	})
}

func (p *pass) alertOptions(now time.Time) alert.Options {
	a := p.cfg.Alerts
	return alert.Options{
		FireAfter: a.FireAfter, ResolveAfter: a.ResolveAfter, RemindEvery: a.RemindEvery, Mode: p.alertMode(),
		Now: now, Destinations: destinations(p.cfg), NoBacklog: []string{toAlertmanager}, Silences: p.silences(now), Known: probesOf(p.cfg),
		DashboardURL: p.cfg.Slack.DashboardURL, Config: p.flags.config, Gather: p.gather, Beside: p.beside,
	}
}

func (p *pass) alertMode() alert.Mode {
	if p.cfg.Alerts.Mode == config.ModeReport || len(destinations(p.cfg)) == 0 {
		return alert.ModeReport
	}
	return alert.ModeNotify
}

// tell sends what waits, in order, and what is firing to who must hear it in
// each run. What is about to be sent is saved before: should perch be killed on
// the way, the next run knows what may have been delivered. What cannot be saved
// is not sent; what is not kept anyhow is.
func (p *pass) tell(ctx context.Context, run probes.Run) {
	defer p.showMemory()
	if p.alertMode() != alert.ModeNotify {
		return
	}
	ongoing := alert.Ongoing(p.memory, run, p.alertOptions(run.Finished))
	if len(p.memory.Outbox) == 0 && len(ongoing) == 0 {
		return
	}
	to, problems := senders(p.sys, p.cfg)
	for _, err := range problems {
		p.problem(probes.PartNotices, err)
	}
	if len(p.memory.Outbox) > 0 {
		p.deliver(ctx, to)
	}
	ctx, cancel := p.share(ctx)
	defer cancel()
	p.countDeliveries(alert.Refresh(ctx, to, ongoing))
}

func (p *pass) deliver(ctx context.Context, to []alert.Destination) {
	unsent := p.memory
	p.memory = alert.MarkSending(unsent)
	if !p.save(ctx) {
		p.memory = unsent
		return
	}
	ctx, cancel := p.share(ctx)
	defer cancel()
	var all []alert.Delivery
	p.memory, all = alert.Deliver(ctx, p.memory, to, p.sys.clock())
	p.countDeliveries(all)
}

func (p *pass) countDeliveries(all []alert.Delivery) {
	for _, d := range all {
		for range d.Told {
			p.metrics.Notices(d.Destination, true)
		}
		for _, err := range d.Errors {
			p.metrics.Notices(d.Destination, false)
			p.problem(probes.PartNotices, err)
		}
		for _, err := range d.Problems { // beside what was told
			p.problem(probes.PartNotices, err)
		}
	}
}

// waitingFor returns how many notices wait for a destination, and when the
// oldest of them was decided.
func waitingFor(name string, m alert.Memory) (waiting int, oldest time.Time) {
	for _, n := range m.Outbox {
		if !slices.ContainsFunc(n.Ways, func(w alert.Way) bool { return w.Destination == name }) {
			continue
		}
		waiting++
		if oldest.IsZero() || n.Decided.Before(oldest) {
			oldest = n.Decided
		}
	}
	return waiting, oldest
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// show keeps for the report what would have been sent.
func (p *pass) show(notices []alert.Notice) {
	p.unsent = notices
	var b strings.Builder
	for _, n := range notices {
		b.WriteString(alert.TextIn(n, p.sys.style().Width))
		b.WriteString("\n")
	}
	p.notices = b.String()
}
