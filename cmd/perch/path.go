package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/probes"
	"perch.example/report"
)

const defaultConfig = "perch.yaml"

// pathFlags are what `perch path` takes.
type pathFlags struct {
	config   string
	caFile   string
	deadline time.Duration
	beside   bool // in a debug container
	compare  bool
	app      appPod
	out      outputFlags
}

func newPath(sys system) *cobra.Command {
	f := pathFlags{out: outputFlags{failOn: "fail", plain: true}}
	cmd := &cobra.Command{
		Use: "path [TARGET|URL]...", Short: "Take the network path's fingerprint, or compare two",
		Long: `Shows what can be seen of the path to each target of the config, to some of them, or to URLs: place, resolver,
addresses, source address, TCP and TLS round trips, where TCP ends, certificate issuer, proxy and mesh.
Taken in the application's pod and in perch's, and compared with --compare, it tells whether both have the
same path. The text ends with the kubectl commands that take it in the application's pod.

No HTTP request is sent: connections are opened, shaken hands on under TLS, and closed, one at a time and within
each target's budget as if each were a request; with a URL, at most one a second. No header, no path and no
query of a URL is used or shown.

Exit status 1: a target could not be reached; with --compare: the paths differ. 2: a file cannot be compared.`,
		Example: `  perch path --output json > perch.json
  perch path https://api.partner.example
  perch path --compare app.json perch.json`,
	}
	cmd.Flags().StringVar(&f.config, "config", defaultConfig, "config `FILE|DIR`; with a URL not read")
	cmd.Flags().BoolVar(&f.compare, "compare", false, "compare two fingerprints; - is standard input")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "with a URL: trust only the authorities in this PEM `FILE` (default: the system's)")
	cmd.Flags().DurationVar(&f.deadline, "deadline", 5*time.Minute, "stop measuring after this long (0: never)")
	cmd.Flags().BoolVar(&f.beside, "debug-container", false, "this is an ephemeral container: its environment, and so its proxy, is not the application's")
	cmd.Flags().StringVar(&f.app.pod, "pod", "", "the application's `POD`, for the printed commands")
	cmd.Flags().StringVar(&f.app.namespace, "namespace", "", "its `NAMESPACE` (default: this one)")
	cmd.Flags().StringVar(&f.app.image, "image", "", "perch's `IMAGE`, for the printed commands")
	f.out.bindPlain(cmd, "write to `FILE` instead of stdout")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(f.out.check(), f.check(args)); err != nil {
			return usage(err)
		}
		if f.compare {
			return comparePaths(cmd, sys, f.out, args)
		}
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		return f.take(cmd.Context(), sys, args, log)
	}
	return cmd
}

func (f *pathFlags) check(args []string) error {
	switch {
	case f.deadline < 0:
		return fmt.Errorf("--deadline %s: want a positive duration such as 1m, or 0 for none", f.deadline)
	case f.compare && len(args) != 2:
		return fmt.Errorf("--compare: want two files, got %d arguments; such as perch path --compare app.json perch.json", len(args))
	case f.compare && args[0] == "-" && args[1] == "-":
		return errors.New("--compare: only one of the two can be standard input")
	}
	return nil
}

// take takes the fingerprint and writes it.
func (f *pathFlags) take(ctx context.Context, sys system, args []string, log *slog.Logger) error {
	cfg, err := f.targets(sys, args, log)
	if err != nil {
		return usage(err)
	}
	ctx, cancel := withDeadline(ctx, f.deadline, 0)
	defer cancel()
	print := f.print(ctx, sys, cfg)
	err = writeTo(sys, f.out.file, func(w io.Writer, style report.Style) error {
		if f.out.format == "json" {
			return report.FingerprintJSON(w, print)
		}
		app := f.app
		app.own = f.again(print, args)
		if app.namespace == "" {
			app.namespace = print.Place.Namespace
		}
		return report.Fingerprint(w, print, app.lines(print), style)
	})
	switch {
	case err != nil:
		return own(err)
	case ctx.Err() != nil:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("cut short: %w", context.Cause(ctx))}
	}
	for _, p := range print.Paths {
		if !reached(p) {
			return &exitError{code: exitFindings}
		}
	}
	return nil
}

// again are the arguments that take the same fingerprint, without what a URL
// holds beside its origin.
func (f *pathFlags) again(print probes.Fingerprint, args []string) (all []string) {
	switch {
	case len(args) == 0 || !strings.Contains(args[0], "://"):
		if f.config != defaultConfig {
			all = append(all, "--config", quoted(f.config))
		}
		for _, name := range args {
			all = append(all, quoted(name))
		}
		return all
	case f.caFile != "":
		all = append(all, "--ca-file", quoted(f.caFile))
	}
	return append(all, origins(print)...)
}

// reached reports whether any connection to the target stood.
func reached(p probes.PathPrint) bool {
	for _, c := range p.Connections {
		if c.Reached() {
			return true
		}
	}
	return false
}
