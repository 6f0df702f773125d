package main

import (
	"context"
	"time"

	"perch.example/probes"
)

// The order of one run. What survives a kill at any moment follows from it:
//
//	open     the state's lock, or turn, then the state
//	plan
//	begin    reserve: the state says that all requests may have left
//	         push zeros and restored values, while the run probes
//	probe    and judge
//	finish   count what the run did, decide what is told
//	         something waits to be told: save all of it, marked as being sent
//	         tell
//	         save all of it
//	         push, text file; should that fail: count it, and save once more
//	report
//	close
//
// So a run writes once when it ends, and once before it tells something. What
// is told or pushed was saved before: a notice that nobody remembers would be
// told again without saying so, and a counter that was pushed and not saved
// would go backwards in the next run, which Prometheus takes for a restart.
//
// When a save fails, then, nothing is told (but to who must hear in each run
// what is firing) and nothing is pushed: the run ends with status 4, the
// Pushgateway keeps the last values that were saved, and
// perch_run_last_completed_timestamp_seconds stands still, which is what an
// alert on a perch that does not run looks at. To push the restored values
// instead would only make old values look new.

// flushWithin is how long finish may take once a run was cut short: the
// kubelet's patience after SIGTERM is short.
const flushWithin = 4 * time.Second

// finish takes a run that was probed and judged through everything that is
// left but its report. It sends nothing to a target.
func (p *pass) finish(ctx context.Context, run *probes.Run) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime(*run))
	defer cancel()
	defer func() { run.Problems = p.problems }()

	p.count(*run)
	run.Problems = p.problems
	p.observe(*run)
	p.decide(run)
	if p.store == nil {
		p.sayUnkept(run)
		p.publish(ctx)
		return
	}
	p.tell(ctx, *run)
	p.sayIncidents(run)
	if !p.save(ctx) {
		return
	}
	if !p.publish(ctx) {
		p.save(ctx) // that it failed is counted
	}
}

func flushTime(run probes.Run) time.Duration {
	if run.CutShort != "" {
		return flushWithin
	}
	return time.Minute
}
