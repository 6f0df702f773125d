package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// execute runs one command line and returns its exit status.
func execute(ctx context.Context, sys system) int {
	root := newRoot(sys)
	root.SetArgs(sys.args)
	err := root.ExecuteContext(ctx)
	var e *exitError
	if err != nil && (!errors.As(err, &e) || e.err != nil) {
		fmt.Fprintln(sys.stderr, "perch:", err)
	}
	return codeOf(err)
}

func newRoot(sys system) *cobra.Command {
	root := &cobra.Command{
		Use:   "perch",
		Short: "A production canary that holds connections idle and reuses them as your application would",
		Long: `perch makes safe, read-only calls to production APIs over the application's own network path,
holds connections idle past the expected keep-alive, reuses them, and says what broke, who closed,
and whether the application's retries would have saved it.

Start with: perch demo`,
		SilenceUsage: true, SilenceErrors: true, SuggestionsMinimumDistance: 2,
		Args: cobra.ArbitraryArgs, RunE: helpOrUnknown,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return fromEnv(cmd.Flags(), sys.env)
		},
	}
	root.SetOut(sys.stdout)
	root.SetErr(sys.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (%s --help lists the flags)", err, cmd.CommandPath())
	})
	root.PersistentFlags().String("log-level", "info", "debug, info, warn or error: what is logged to stderr")
	root.PersistentFlags().String("log-format", "text", "text or json")
	bindPolicy(root, &sys)
	root.AddCommand(
		newDemo(sys), newRun(sys), newServe(sys), newPlan(sys), newIdle(sys), newAudit(sys), newPath(sys), newSilence(sys), newAlert(sys), newLab(sys),
		newManifest(sys), newSchema(sys), newVersion(sys),
	)
	return root
}

// helpOrUnknown is what a command does that only has others.
func helpOrUnknown(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return cmd.Help()
}

// unknownCommand says what was perhaps meant.
func unknownCommand(parent *cobra.Command, name string) error {
	if !parent.HasParent() && slices.Contains([]string{"check", "validate", "verify", "lint"}, name) { // as other tools call it
		return fmt.Errorf("unknown command %q; did you mean %s plan --check?", name, parent.CommandPath())
	}
	near := parent.SuggestionsFor(name)
	if len(near) == 0 {
		return fmt.Errorf("unknown command %q (%s --help lists them)", name, parent.CommandPath())
	}
	return fmt.Errorf("unknown command %q; did you mean %s?", name, strings.Join(near, " or "))
}

// noArgs refuses arguments, and says where a config belongs.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, got %q; a config goes behind --config", cmd.CommandPath(), args[0])
	}
	return nil
}

// fromEnv gives each flag that the command line left alone the value of
// PERCH_<FLAG>, where it is set.
func fromEnv(flags *pflag.FlagSet, env func(string) (string, bool)) error {
	var problems []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "PERCH_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := env(name)
		if !ok || f.Changed || f.Name == "help" {
			return
		}
		if err := flags.Set(f.Name, v); err != nil {
			problems = append(problems, fmt.Errorf("reading %s: %w", name, err))
		}
	})
	return errors.Join(problems...)
}

// logger makes the log of one command: to stderr, with no secret possible
// inside, since secrets hide themselves.
func logger(cmd *cobra.Command, sys system) (*slog.Logger, error) {
	name, _ := cmd.Flags().GetString("log-level")
	format, _ := cmd.Flags().GetString("log-format")
	var level slog.Level
	switch name {
	case "debug", "info", "warn", "error":
		_ = level.UnmarshalText([]byte(name)) // one of the four
	default:
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", name)
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(sys.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(sys.stderr, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q: want text or json", format)
}
