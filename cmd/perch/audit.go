package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/diagnose/clients"
	"perch.example/probes"
	"perch.example/report"
)

func newAudit(sys system) *cobra.Command {
	var configPath string
	var only []string
	var list bool
	out := outputFlags{plain: true}
	cmd := &cobra.Command{
		Use: "audit", Short: "Show which network failures the declared client and retry policy cover, miss, or retry unsafely",
		Long: `Shows, reason by reason, what the application's HTTP client and its retry policy, as the config declares them,
make of each failure that the wire can show: noticed, retried, missed, or unsafe to repeat. Prints what the
retry list lacks and what is useless in it. Needs only the config: no network, no secrets, no state.

Exit status 1: a GET is not sent again after a transient network failure. With --fail-on degraded also when
a 429, 502, 503 or 504 is not asked for again.

--list shows the clients that a config can declare. It needs no config.`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.Flags().StringSliceVar(&only, "only", nil, "audit only this `target` (repeatable)")
	cmd.Flags().BoolVar(&list, "list", false, "show the clients that a config can declare")
	out.bind(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := out.check(); err != nil {
			return usage(err)
		}
		if list {
			return listClients(sys, out)
		}
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		cfg, err := configAnywhere(sys, configPath, configOptions(sys))
		if err != nil {
			return usage(err)
		}
		all, err := auditsOf(cfg, only)
		if err != nil {
			return usage(err)
		}
		for _, w := range cfg.Warnings {
			if !strings.Contains(w, retryEntry) {
				log.Warn("config", "warning", w)
			}
		}
		if err := writeTo(sys, out.file, func(w io.Writer, style report.Style) error {
			if out.format == "json" {
				return report.AuditJSON(w, all)
			}
			return report.Audit(w, all, style)
		}); err != nil {
			return own(err)
		}
		return auditExit(all, out.failOn)
	}
	return cmd
}

func listClients(sys system, out outputFlags) error {
	err := writeTo(sys, out.file, func(w io.Writer, style report.Style) error {
		if out.format == "json" {
			return report.ClientsJSON(w, clients.Known())
		}
		return report.Clients(w, clients.Known(), style)
	})
	if err != nil {
		return own(err)
	}
	return nil
}

// auditsOf audits each client that is declared differently, once.
func auditsOf(cfg config.Config, only []string) (probes.Audits, error) {
	targets, err := chosen(cfg, only)
	if err != nil {
		return probes.Audits{}, err
	}
	version, _ := build()
	all := probes.Audits{Version: version, Name: cfg.Name}
	for _, t := range targets {
		if t.Client == nil {
			all.Undeclared = append(all.Undeclared, t.Name)
			continue
		}
		for _, http2 := range auditedOver(t, &all) {
			decl := *t.Client
			decl.HTTP2 = http2
			same := func(a probes.Audit) bool { return reflect.DeepEqual(a.Client, decl) }
			i := slices.IndexFunc(all.Audits, same)
			if i < 0 {
				i = len(all.Audits)
				all.Audits = append(all.Audits, clients.Audit(decl, clients.AuditMethods()))
			}
			all.Audits[i].Targets = append(all.Audits[i].Targets, t.Name)
		}
	}
	for _, w := range cfg.Warnings {
		if strings.Contains(w, retryEntry) && slices.ContainsFunc(targets, doubtedIn(w)) {
			all.Doubts = append(all.Doubts, w)
		}
	}
	return all, nil
}

// retryEntry is in the config's warnings about an entry of a retry list.
const retryEntry = ".retry.errors["

// doubtedIn reports whether the entry that a warning is about, of which it shows
// the beginning at least, is in a target's list.
func doubtedIn(warning string) func(probes.Target) bool {
	const shown = 60                                     // the config cuts what is longer
	warning, _, _ = strings.Cut(warning, "did you mean") // another's right name
	return func(t probes.Target) bool {
		return t.Client != nil && t.Client.Retry != nil && slices.ContainsFunc(t.Client.Retry.Errors, func(entry string) bool {
			quoted := strconv.Quote(entry)
			return strings.Contains(warning, "(not shown)") || strings.Contains(warning, quoted[:min(shown, len(quoted))])
		})
	}
}

// chosen are the targets that --only names; a probe behind the target's name,
// as in `perch run`, chooses its target.
func chosen(cfg config.Config, only []string) ([]probes.Target, error) {
	if len(only) == 0 {
		return cfg.Targets, nil
	}
	var problems []error
	wanted := map[string]bool{}
	for _, pattern := range only {
		found := false
		for _, t := range cfg.Targets {
			if chooses(pattern, t) {
				wanted[t.Name], found = true, true
			}
		}
		if !found {
			var names []string
			for _, t := range cfg.Targets {
				names = append(names, t.Name)
			}
			problems = append(problems, fmt.Errorf("--only %s: matches no target or none of its probes, known targets are: %s", pattern, strings.Join(names, ", ")))
		}
	}
	return slices.DeleteFunc(slices.Clone(cfg.Targets), func(t probes.Target) bool { return !wanted[t.Name] }), errors.Join(problems...)
}

// chooses reports whether a pattern names the target, or a probe of it.
func chooses(pattern string, t probes.Target) bool {
	target, probe, one := strings.Cut(pattern, "/")
	if ok, err := path.Match(target, t.Name); err != nil || !ok {
		return false
	}
	return !one || slices.ContainsFunc(t.Probes, func(s probes.Spec) bool {
		ok, err := path.Match(probe, s.Probe)
		return err == nil && ok
	})
}

// auditExit is 1 where --fail-on says so: a missed network failure is a fail,
// a missed answer leaves the application degraded.
func auditExit(all probes.Audits, failOn string) error {
	for _, a := range all.Audits {
		if failOn != "never" && (a.Missed() || failOn == "degraded" && a.Client.Retry != nil && len(a.Answers) > 0) {
			return &exitError{code: exitFindings}
		}
	}
	return nil
}

// writeTo writes to stdout in its style, or plainly to a file.
func writeTo(sys system, file string, write func(io.Writer, report.Style) error) error {
	if file == "" {
		return write(sys.stdout, sys.style())
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return errors.Join(write(f, report.Style{}), f.Close())
}
