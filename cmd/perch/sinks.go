package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
	"perch.example/report"
)

// alertSection is the alert memory's name in the state.
const alertSection = "alert"

const slackDestination = "slack"

// alert decides what is told, and tells it. What could not be delivered stays
// in the memory for the next run.
func (p *pass) alert(ctx context.Context, run *probes.Run) {
	options := alert.Options{
		FireAfter: p.cfg.Alerts.FireAfter, ResolveAfter: p.cfg.Alerts.ResolveAfter, Mode: p.alertMode(),
		Now: run.Finished, DashboardURL: p.cfg.Slack.DashboardURL, Config: p.flags.config,
		Destinations: destinations(p.cfg),
	}
	if p.store == nil {
		// Without memory each run is the first: nothing can be sent that would
		// not be sent again and again.
		p.show(alert.Preview(*run, options))
		return
	}
	memory, err := readMemory(p.doc.Sections[alertSection])
	if err != nil {
		p.problem(probes.PartState, fmt.Errorf("reading the alert memory: %w (it starts anew)", err))
	}
	memory, notices := alert.Decide(memory, *run, options)
	if options.Mode == alert.ModeNotify {
		memory = p.deliver(ctx, memory, notices)
	} else {
		p.show(notices)
	}
	p.metrics.IncidentsKnown()
	for _, i := range memory.Open() {
		p.metrics.SetIncident(i.Target, i.Family, true)
		run.Incidents = append(run.Incidents, fmt.Sprintf("%s (%s) is firing since %s: %d of %d runs failed",
			i.Target, i.Family, i.Since.UTC().Format("2006-01-02 15:04 UTC"), i.Failed, i.Counted))
	}
	p.keep(memory)
}

func (p *pass) alertMode() alert.Mode {
	if p.cfg.Alerts.Mode == config.ModeReport || p.cfg.Slack.Webhook.Zero() {
		return alert.ModeReport
	}
	return alert.ModeNotify
}

func readMemory(raw json.RawMessage) (alert.Memory, error) {
	var m alert.Memory
	if len(raw) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return alert.Memory{}, err
	}
	return m, nil
}

// keep puts the alert memory into the state's document.
func (p *pass) keep(m alert.Memory) {
	raw, err := json.Marshal(m)
	if err != nil {
		p.problem(probes.PartState, fmt.Errorf("writing the alert memory: %w", err))
		return
	}
	p.doc.SetSection(alertSection, raw)
}

// deliver sends the notices in order and returns the memory of what was told.
// The state is saved before: should perch be killed on the way, the next run
// knows what may have been delivered.
func (p *pass) deliver(ctx context.Context, m alert.Memory, notices []alert.Notice) alert.Memory {
	if len(notices) == 0 {
		p.metrics.Pending(slackDestination, 0, time.Time{})
		return m
	}
	url, err := p.secrets()(p.cfg.Slack.Webhook)
	if err != nil {
		p.problem(probes.PartNotices, err)
		return m
	}
	m = alert.MarkSending(m)
	p.keep(m)
	if err := p.store.Save(ctx, p.doc); err != nil {
		p.problem(probes.PartState, err)
	}
	m, all := alert.Deliver(ctx, m, []alert.Destination{{Name: slackDestination, Sender: alert.NewSlack(url, &http.Client{})}}, time.Now())
	for _, d := range all {
		for range d.Told {
			p.metrics.Notices(d.Destination, true)
		}
		for _, err := range d.Errors {
			p.metrics.Notices(d.Destination, false)
			p.problem(probes.PartNotices, err)
		}
	}
	waiting, oldest := m.Waiting()
	p.metrics.Pending(slackDestination, waiting, oldest)
	return m
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

// record hands the run to the metrics and writes them where the config says:
// the push first, so that the text file knows if it failed.
func (p *pass) record(ctx context.Context, run *probes.Run) {
	run.Problems = p.problems
	if !p.measures() {
		return
	}
	p.metrics.Observe(*run)
	m := p.cfg.Metrics
	if m.PushURL != "" {
		if err := p.metrics.Push(ctx, m.PushURL, &http.Client{Timeout: 10 * time.Second}); err != nil {
			p.problem(probes.PartPush, err)
			p.metrics.Problem(probes.PartPush)
		}
	}
	if m.Textfile != "" {
		if err := p.metrics.WriteTextfile(m.Textfile); err != nil {
			p.problem(probes.PartPush, err)
		}
	}
}

// remember writes the state.
func (p *pass) remember(ctx context.Context, run *probes.Run) {
	defer func() { run.Problems = p.problems }()
	if p.store == nil {
		return
	}
	if err := p.store.Save(ctx, p.doc); err != nil {
		p.problem(probes.PartState, err)
	}
}

// report writes the run where the flags say.
func (p *pass) report(run probes.Run) error {
	if p.out.file == "" {
		return p.write(p.sys.stdout, run, p.sys.style())
	}
	f, err := os.Create(p.out.file)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return errors.Join(p.write(f, run, report.Style{}), f.Close())
}

func (p *pass) write(w io.Writer, run probes.Run, style report.Style) error {
	if p.out.format == "json" {
		return report.JSON(w, run)
	}
	text := p.text
	if text == nil {
		text = report.Text
	}
	if err := text(w, run, style); err != nil {
		return err
	}
	if p.notices == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nThe message that would be sent:\n\n%s", p.notices)
	return err
}
