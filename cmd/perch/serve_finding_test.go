package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// Of a finding the log names the hold where there was one.
func TestServeNamesTheHold(t *testing.T) {
	var log strings.Builder
	s := &service{log: slog.New(slog.NewTextHandler(&log, nil)), found: map[finding]saying{}}
	s.sayFindings(probes.Run{Outcomes: []probes.Outcome{
		{Target: "api", Probe: "burst", Kind: probes.KindBurst, Verdict: probes.VerdictFail},
		{Target: "api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictFail, Hold: 65 * time.Second},
	}})
	want(t, "the log", log.String(), "probe=burst verdict=fail", "probe=idle hold=1m5s verdict=fail")
}
