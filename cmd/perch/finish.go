package main

import (
	"context"

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
//	         text file, push, OTLP; should one fail: count it, save once more, and
//	         write the text file again; likewise where OTLP took what the state kept
//	report
//	close
//
// So a run writes once when it ends, and once before it tells something. What
// is told, written or pushed was saved before: a notice that nobody remembers would be
// told again without saying so, and a counter that was pushed and not saved
// would go backwards in the next run, which Prometheus takes for a restart.
//
// When a save fails, then, nothing is told (but to who must hear in each run
// what is firing) and nothing is written or pushed: the run ends with status 4, the
// Pushgateway keeps the last values that were saved, and
// perch_run_last_completed_timestamp_seconds stands still, which is what an
// alert on a perch that does not run looks at. To push the restored values
// instead would only make old values look new.

// finish takes a run that was probed and judged through everything that is
// left but its report. It sends nothing to a target.
func (p *pass) finish(ctx context.Context, run *probes.Run) {
	ctx, cancel := p.bounded(ctx, flushTime(*run))
	defer cancel()
	defer func() { run.Problems = p.problems }()

	p.takeIn(run)
	if p.store == nil {
		p.sayUnkept(run)
		p.pushLast(ctx)
		p.export(ctx, *run)
		p.writeTextfile() // nothing of it has to be kept: it may say that the push failed
		return
	}
	p.tell(ctx, *run)
	p.sayIncidents(run)
	if !p.save(ctx) {
		return
	}
	written := p.writeTextfile()
	pushed := p.pushLast(ctx)
	exported := p.export(ctx, *run)
	if (!written || !pushed || !exported || p.keptUnsent()) && p.save(ctx) && written { // that it failed is counted
		p.writeTextfile()
	}
}

// takeIn counts what a run did, and decides what is told.
func (p *pass) takeIn(run *probes.Run) {
	p.count(*run)
	run.Problems = p.problems
	p.observe(*run)
	p.decide(run)
}
