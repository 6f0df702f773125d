package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"perch.example/diagnose"
	calllog "perch.example/diagnose/calls"
	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// predicting is a probe whose outcomes are to say what an application's calls would meet.
type predicting struct {
	in    diagnose.Input
	first int // of its outcomes in the run's
}

// mayPredict reports whether it is known of a probe when an application calls.
func mayPredict(s probes.Spec) bool { return s.Burst != nil || s.Calls != "" }

// predicts reports whether one of a target's probes is to predict.
func predicts(t probes.Target) bool { return slices.ContainsFunc(t.Probes, mayPredict) }

// predict adds the predictions, once all probes are judged: a timeout that one of a target's
// probes measured holds for the others.
func (p *pass) predict(run *probes.Run, all []predicting) {
	if len(all) == 0 {
		return
	}
	measured := p.measuredPaths(all)
	for _, one := range all {
		in := one.in
		if !mayPredict(in.Spec) {
			continue // it only measured
		}
		path, known := measured[in.Spec.ID()]
		if !known {
			path, known = measured[in.Spec.Target]
		}
		if !known {
			continue
		}
		if p.predictsFor != nil {
			in.Spec.Client = p.predictsFor
		}
		run.Outcomes[one.first].Predicted = diagnose.Predict(in, path, p.callTimes(in.Spec)...)
	}
}

// measuredPaths are what this run's probes measured, by probe and by target; where none of a
// target's did, what an earlier run's did.
func (p *pass) measuredPaths(all []predicting) map[string]clients.Path {
	paths := map[string]clients.Path{}
	for _, one := range all {
		if path := diagnose.IdlePath(one.in); path.Timeout > 0 {
			paths[one.in.Spec.ID()] = path
			if best, known := paths[one.in.Spec.Target]; !known || path.Timeout < best.Timeout {
				paths[one.in.Spec.Target] = path
			}
		}
	}
	if !slices.ContainsFunc(all, func(one predicting) bool { _, known := paths[one.in.Spec.Target]; return !known }) {
		return paths
	}
	before := ends(p.doc, p.cfg)
	for _, t := range p.cfg.Targets {
		if _, known := paths[t.Name]; known {
			continue
		}
		for _, s := range t.Probes {
			if end := before[s.ID()]; end > 0 && (paths[t.Name].Timeout == 0 || end < paths[t.Name].Timeout) {
				paths[t.Name] = clients.Path{Timeout: end, End: probes.ReasonIdleFIN}
			}
		}
	}
	return paths
}

// callTimes are the declared shape, and the file of calls where there is one. A file that
// cannot be read is a problem of the run, and nothing is predicted from it.
func (p *pass) callTimes(s probes.Spec) []diagnose.CallTimes {
	var all []diagnose.CallTimes
	if times, ok := diagnose.DeclaredTimes(s); ok {
		all = append(all, times)
	}
	if s.Calls == "" {
		return all
	}
	log, err := p.callLogs.read(s.Calls)
	if err != nil {
		err = fmt.Errorf("%s: calls: %w", s.ID(), err)
		if at := p.cfg.Places[s.ID()]; at != "" { // else there is no config: perch idle
			err = fmt.Errorf("%s: %w", at, err)
		}
		p.problem(probes.PartConfig, err)
		return all
	}
	return append(all, diagnose.CallTimes{Source: sourceOf(s.Calls, log), Calls: log.Calls})
}

// callLogs are files of calls that were read, each as long as it is the same.
type callLogs struct{ byName map[string]callLog }

type callLog struct {
	size    int64
	changed time.Time
	log     calllog.Log
}

// read returns a file's calls.
func (c *callLogs) read(name string) (calllog.Log, error) {
	info, err := os.Stat(name) // before it is opened: opening a pipe waits for its writer
	switch {
	case err != nil:
		return calllog.Log{}, err
	case !info.Mode().IsRegular():
		return calllog.Log{}, fmt.Errorf("%q is not a regular file", name)
	}
	if had, ok := c.byName[name]; ok && had.size == info.Size() && had.changed.Equal(info.ModTime()) {
		return had.log, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return calllog.Log{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	log, err := calllog.Read(f, name)
	if err != nil {
		return calllog.Log{}, err
	}
	if c.byName == nil {
		c.byName = map[string]callLog{}
	}
	c.byName[name] = callLog{size: info.Size(), changed: info.ModTime(), log: log}
	return log, nil
}
