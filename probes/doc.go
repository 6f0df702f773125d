// Package probes holds perch's nouns (Spec, Attempt, Observation, Outcome, Run)
// and the probes themselves. It imports nothing of perch but the connection
// engine (probes/wire) and the expectations (probes/expect).
package probes
