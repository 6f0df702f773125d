package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"perch.example/probes"
	"perch.example/report"
)

// pushWithin bounds one push.
const pushWithin = 10 * time.Second

// pushFirst begins to push zeros and restored values, beside the probing:
// Prometheus has to see a counter's start, or it does not see its first
// increase. In a new pod whose network is still coming up it may fail; the push
// of finish is the one that counts.
func (p *pass) pushFirst(ctx context.Context) {
	if p.cfg.Metrics.PushURL == "" {
		return
	}
	p.pushing = make(chan struct{})
	go func() {
		defer close(p.pushing)
		if err := p.push(ctx); err != nil {
			p.log.Warn("the first push failed; the last one is tried all the same", "error", err)
		}
	}()
}

func (p *pass) push(ctx context.Context) error {
	header, err := headersOf(p.cfg.Metrics.PushHeaders, p.secrets())(ctx)
	if err != nil {
		return fmt.Errorf("pushing metrics: reading the headers: %w", err)
	}
	return p.metrics.Push(ctx, p.cfg.Metrics.PushURL, header, &http.Client{Transport: p.sys.web, Timeout: pushWithin})
}

// observe hands the run to the metrics. The first push must not see half of
// it.
func (p *pass) observe(run probes.Run) {
	if p.pushing != nil {
		<-p.pushing
	}
	if !p.measures() {
		return
	}
	p.metrics.Observe(run)
	p.observed = true
}

// pushLast pushes where the config says so, and reports whether all went well.
func (p *pass) pushLast(ctx context.Context) bool {
	if p.cfg.Metrics.PushURL == "" {
		return true
	}
	ctx, cancel := p.share(ctx)
	defer cancel()
	err := p.push(ctx)
	if err != nil {
		p.problem(probes.PartPush, err)
	}
	return err == nil
}

// writeTextfile writes the metrics into the config's text file, and reports
// whether all went well.
func (p *pass) writeTextfile() bool {
	if p.cfg.Metrics.Textfile == "" {
		return true
	}
	err := p.metrics.WriteTextfile(p.cfg.Metrics.Textfile)
	if err != nil {
		p.problem(probes.PartPush, err)
	}
	return err == nil
}

// report writes the run where the flags say: all of it, whatever became of one.
func (p *pass) report(run probes.Run) error {
	var problems []error
	for _, o := range p.out.to {
		problems = append(problems, writeTo(p.sys, o.file, func(w io.Writer, style report.Style) error {
			return p.write(w, o.format, run, style)
		}))
	}
	return errors.Join(problems...)
}

func (p *pass) write(w io.Writer, format string, run probes.Run, style report.Style) error {
	switch format {
	case "json":
		return report.JSON(w, run)
	case "junit":
		return report.JUnit(w, run, p.out.failing()...)
	case "html":
		return report.HTML(w, run, p.notices)
	}
	text := p.text
	if text == nil {
		text = report.Text
	}
	if err := text(w, run, style); err != nil {
		return err
	}
	if p.notices == "" || p.noticesApart {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nThe message that would be sent:\n\n%s", p.notices)
	return err
}
