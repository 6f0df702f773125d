package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
)

// TestARemovedDestination: that notices waited for it is said, once.
func TestARemovedDestination(t *testing.T) {
	t.Parallel()
	d := &diary{}
	raw, err := json.Marshal(alert.Memory{Outbox: []alert.Notice{
		{ID: "day 1", Kind: alert.KindDigest, Decided: time.Now(), Ways: []alert.Way{{Destination: "pager"}, {Destination: "slack"}}},
		{ID: "day 2", Kind: alert.KindDigest, Decided: time.Now(), Ways: []alert.Way{{Destination: "pager"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.doc.SetSection(sectionAlert, raw)
	for n, says := range []int{1, 0} {
		p, log := newPass(t, noted, d)
		take(t, p, probes.VerdictPass)
		if got := strings.Count(log.String(), "destination=pager notices=2"); got != says || len(p.memory.Outbox) != 0 {
			t.Errorf("run %d says it %d times, want %d; %d wait: %s", n, got, says, len(p.memory.Outbox), log)
		}
	}
	told := 0
	for _, e := range d.events {
		if e == "slack" {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d notices were told, want both: %q", told, d.events)
	}
}

// TestNobodyIsLeftToTell: what waits is dropped, and that is said, once.
func TestNobodyIsLeftToTell(t *testing.T) {
	t.Parallel()
	d := &diary{}
	raw, err := json.Marshal(alert.Memory{Outbox: []alert.Notice{
		{ID: "day 1", Kind: alert.KindDigest, Decided: time.Now(), Ways: []alert.Way{{Destination: "slack"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.doc.SetSection(sectionAlert, raw)
	for n, says := range []int{1, 0} {
		p, log := newPass(t, noted, d)
		p.cfg.Slack = config.Slack{}
		take(t, p, probes.VerdictPass)
		if got := strings.Count(log.String(), "are dropped"); got != says || len(p.memory.Outbox) != 0 {
			t.Errorf("run %d says it %d times, want %d; %d wait: %s", n, got, says, len(p.memory.Outbox), log)
		}
	}
}
