package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
)

const slackDestination = "slack"

// decide folds the run into the alert memory. Without memory each run is the
// first: nothing can be told that would not be told again and again, so it is
// only shown.
func (p *pass) decide(run *probes.Run) {
	options := alert.Options{
		FireAfter: p.cfg.Alerts.FireAfter, ResolveAfter: p.cfg.Alerts.ResolveAfter, Mode: p.alertMode(),
		Now: run.Finished, DashboardURL: p.cfg.Slack.DashboardURL, Config: p.flags.config,
		Destinations: destinations(p.cfg),
	}
	if p.store == nil {
		p.show(alert.Preview(*run, options))
		return
	}
	var notices []alert.Notice
	p.memory, notices = alert.Decide(p.memory, *run, options)
	if options.Mode != alert.ModeNotify {
		p.show(notices)
	}
	p.metrics.IncidentsKnown()
	for _, i := range p.memory.Open() {
		p.metrics.SetIncident(i.Target, i.Family, true)
	}
}

func (p *pass) alertMode() alert.Mode {
	if p.cfg.Alerts.Mode == config.ModeReport || len(destinations(p.cfg)) == 0 {
		return alert.ModeReport
	}
	return alert.ModeNotify
}

// destinations are where notices of this config can go.
func destinations(cfg config.Config) []string {
	if cfg.Slack.Webhook.Zero() {
		return nil
	}
	return []string{slackDestination}
}

// tell sends what waits, in order. What is about to be sent is saved before:
// should perch be killed on the way, the next run knows what may have been
// delivered. What cannot be saved is not sent.
func (p *pass) tell(ctx context.Context) {
	defer p.countWaiting()
	if p.alertMode() != alert.ModeNotify || len(p.memory.Outbox) == 0 {
		return
	}
	to := p.senders()
	unsent := p.memory
	p.memory = alert.MarkSending(unsent)
	if !p.save(ctx) {
		p.memory = unsent
		return
	}
	ctx, cancel := share(ctx)
	defer cancel()
	var all []alert.Delivery
	p.memory, all = alert.Deliver(ctx, p.memory, to, p.clock())
	for _, d := range all {
		for range d.Told {
			p.metrics.Notices(d.Destination, true)
		}
		for _, err := range d.Errors {
			p.metrics.Notices(d.Destination, false)
			p.problem(probes.PartNotices, err)
		}
	}
}

// senders are the config's destinations, their secrets read anew.
func (p *pass) senders() []alert.Destination {
	var to []alert.Destination
	client := &http.Client{Transport: p.web}
	if url, err := p.secrets()(p.cfg.Slack.Webhook); err != nil {
		p.problem(probes.PartNotices, err)
	} else {
		to = append(to, alert.Destination{Name: slackDestination, Sender: alert.NewSlack(url, client)})
	}
	return to
}

func (p *pass) countWaiting() {
	waiting, oldest := p.memory.Waiting()
	for _, name := range destinations(p.cfg) {
		p.metrics.Pending(name, waiting, oldest)
	}
}

// sayOpen puts what is open into the report.
func (p *pass) sayOpen(run *probes.Run) {
	for _, i := range p.memory.Open() {
		run.Incidents = append(run.Incidents, fmt.Sprintf("%s (%s) is firing since %s: %d of %d runs failed",
			i.Target, i.Family, i.Since.UTC().Format("2006-01-02 15:04 UTC"), i.Failed, i.Counted))
	}
}

// show keeps for the report what would have been sent.
func (p *pass) show(notices []alert.Notice) {
	var b strings.Builder
	for _, n := range notices {
		b.WriteString(alert.TextIn(n, p.sys.style().Width))
		b.WriteString("\n")
	}
	p.notices = b.String()
}

// share gives one stage half of the time that is left: one that hangs does not
// take the others' time.
func share(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}
