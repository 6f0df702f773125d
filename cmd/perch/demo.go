package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/lab"
)

//go:embed demo.yaml
var demoConfig string

func newDemo(sys system) *cobra.Command {
	var flags runFlags
	out := outputFlags{failOn: "never"}
	cmd := &cobra.Command{
		Use: "demo", Short: "Replay the incident that perch was made for, on this machine, in a few seconds", Args: cobra.NoArgs,
		Long: `Starts a server on loopback that closes idle connections after a second, runs a sample config against it, and
prints the report, the Slack message it would send and the metrics it would expose. No network, no set-up.
With another --output than text for stdout, the report alone.`,
	}
	cmd.Flags().Uint64Var(&flags.seed, "seed", 0, "seed of the trace ids (0: a new one)")
	out.bindOutputs(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(flags.complete(), out.check()); err != nil {
			return usage(err)
		}
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		server, err := lab.Start(cmd.Context(), "incident", lab.Options{})
		if err != nil {
			return own(err)
		}
		defer func() { _ = server.Close() }() // the process ends
		data := strings.ReplaceAll(demoConfig, "http://api.example", server.URL())
		cfg, err := config.Parse(configOptions(sys), config.File{Name: "demo.yaml", Data: []byte(data)})
		if err != nil {
			return own(err)
		}
		cfg.Alerts.Settle = 0 // the server is up
		return playDemo(cmd.Context(), &pass{kept: &kept{}, sys: sys, cfg: cfg, flags: flags, out: out, log: log, showMetrics: true})
	}
	return cmd
}

const demoIntro = `perch demo: a server on loopback closes idle connections after 1 s.
The application calls it with Spring's RestTemplate over Apache HttpClient 4.5,
whose pool looks at a connection only when it was idle for 2 s or more.
HttpClient's automatic retries, on by default, are off here. A retry layer
inside RestTemplate (an interceptor that calls HttpClient) makes 3 attempts; its
list holds two errors of Spring's, HttpServerErrorException and
ResourceAccessException. perch holds connections idle and reuses them without
looking, as that pool does. This takes a few seconds.

`

// playDemo is a run that shows every sink instead of writing to it. A report that
// is no text stands alone on stdout, for what reads it.
func playDemo(ctx context.Context, p *pass) error {
	told := p.out.tells()
	if told {
		if _, err := fmt.Fprint(p.sys.stdout, demoIntro); err != nil {
			return own(err) // at once, and not after a run that nobody can read
		}
	}
	if err := p.makePlan(); err != nil {
		return err
	}
	run := p.begin(ctx)
	p.probe(ctx, &run)
	p.decide(&run)
	p.noticesApart = told // they follow, beside the metrics
	if err := p.report(run); err != nil {
		return own(err)
	}
	p.metrics.Observe(run)
	if told {
		if err := demoSinks(p); err != nil {
			return own(err)
		}
	}
	if run.CutShort != "" {
		return &exitError{code: exitIncomplete}
	}
	return nil
}

func demoSinks(p *pass) error {
	w := p.sys.stdout
	fmt.Fprintf(w, "\nThe Slack message it would send:\n\n%s", p.notices)
	fmt.Fprint(w, "Some of the metrics it would expose (docs/safety.md says how many there can be):\n\n")
	if err := printMetrics(w, p.metrics.Text); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\nNext: `perch idle URL` measures a path of yours; docs/reading-a-report.md explains each line.\n")
	return err
}

// shown are the series that tell the demo's story.
func shown() []string {
	return []string{
		"perch_probe_success", "perch_outcomes_total", "perch_attempts_total", "perch_holds_total", "perch_idle_",
		"perch_keep_alive_", "perch_client_danger_band_", "perch_finding", "perch_requests_total",
	}
}

// printMetrics prints those of the shown series that are not zero, and a probe's success always.
func printMetrics(w io.Writer, text func(io.Writer) error) error {
	var all bytes.Buffer
	if err := text(&all); err != nil {
		return err
	}
	for line := range strings.Lines(all.String()) {
		zero := strings.HasSuffix(line, " 0\n") && !strings.HasPrefix(line, "perch_probe_success")
		if zero || !slices.ContainsFunc(shown(), func(p string) bool { return strings.HasPrefix(line, p) }) {
			continue
		}
		if _, err := io.WriteString(w, "  "+line); err != nil {
			return err
		}
	}
	return nil
}
