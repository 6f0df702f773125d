package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/probes"
)

// runFlags are the flags of every command that plans or runs a config.
type runFlags struct {
	config   string
	only     []string
	all      bool
	seed     uint64
	deadline time.Duration
	waited   time.Duration // of the deadline as it was asked for: for a sidecar
	adopt    bool          // of run alone
}

func (f *runFlags) bind(cmd *cobra.Command) {
	f.bindConfig(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "also what is not due yet")
	cmd.Flags().DurationVar(&f.deadline, "deadline", 0, "cut the run short after this long (0: none)")
}

// bindConfig binds those that perch serve has as well.
func (f *runFlags) bindConfig(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "run only `target[/probe]` (repeatable)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the spread and of the trace ids (0: a new one, printed in the report)")
}

// complete checks what flags alone can tell, and draws the seed.
func (f *runFlags) complete() error {
	if f.deadline < 0 {
		return fmt.Errorf("--deadline %s: want a positive duration such as 4m", f.deadline)
	}
	if f.seed == 0 {
		f.seed = rand.Uint64()>>12 | 1 // 52 bits: exact in every JSON reader
	}
	return nil
}

// outputFlags say where the report goes and what the exit status means.
type outputFlags struct {
	format string   // of what writes one report: what is no run, and perch serve
	asked  []string // --output, as often as it was given
	file   string
	to     []output // what check made of them: one at least
	failOn string
	plain  bool // of what is no run: there are no cases or connections to show
}

func (f *outputFlags) bind(cmd *cobra.Command) {
	if f.plain {
		f.bindPlain(cmd, "write the report to `FILE` instead of stdout")
	} else {
		f.bindOutputs(cmd)
	}
	cmd.Flags().StringVar(&f.failOn, "fail-on", "fail", "exit 1 at this verdict or worse: fail, degraded or never")
}

// bindPlain binds those of what is no run.
func (f *outputFlags) bindPlain(cmd *cobra.Command, file string) {
	cmd.Flags().StringVar(&f.format, "output", "text", "text or json")
	cmd.Flags().StringVar(&f.file, "output-file", "", file)
}

// oneOf is "text, json, junit or html".
func oneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// failing are the verdicts that --fail-on has count as failures beside a fail.
func (f *outputFlags) failing() []probes.Verdict {
	if f.failOn == "degraded" {
		return []probes.Verdict{probes.VerdictDegraded}
	}
	return nil
}

// exitCode is the status that a finished run ends with: 4 before 3 before 1.
func (f *outputFlags) exitCode(run probes.Run) int {
	switch {
	case len(run.Problems) > 0:
		return exitOwn
	case run.CutShort != "":
		return exitIncomplete
	case f.failOn == "never":
		return exitOK
	}
	for _, o := range run.Outcomes {
		if o.Accepted != nil {
			continue // known and lived with, and the report says so
		}
		if o.Verdict == probes.VerdictFail || (f.failOn == "degraded" && o.Verdict == probes.VerdictDegraded) {
			return exitFindings
		}
	}
	return exitOK
}

// runID names a run for people and for traces: its start, its seed and its shard,
// for those of one Job may start together and be given one seed.
func runID(started time.Time, seed uint64, shard config.Shard) string {
	id := strings.ToLower(started.UTC().Format("20060102T150405Z")) + fmt.Sprintf("-%06x", seed&0xffffff)
	if !shard.Whole() {
		id += "-" + shard.Name()
	}
	return id
}
