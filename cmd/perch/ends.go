package main

import (
	"fmt"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/state"
)

// ends returns, per probe, the idle age at which earlier runs saw the path end
// connections: before keep_alive, or at all where no keep_alive is expected. The
// earliest of one run counts: servers that look at a tick end later by chance.
// Of an end that nobody saw, only the idle age that was too much is known.
func ends(d state.Document, cfg config.Config) map[string]time.Duration {
	ends := map[string]time.Duration{}
	for id, closes := range d.EarlyCloses {
		for _, age := range closes {
			if have, known := ends[id]; !known || age < have {
				ends[id] = age
			}
		}
	}
	for _, t := range cfg.Targets {
		for _, s := range t.Probes {
			b := d.Brackets[s.ID()]
			if s.Kind != probes.KindIdle || s.KeepAlive > 0 {
				continue // what ends on time, or late, is expected there
			}
			if b.Measured > 0 {
				ends[s.ID()] = b.Measured
			} else if b.Died > 0 {
				ends[s.ID()] = b.Died
			}
		}
	}
	return ends
}

// lastVerdicts says of what is not due what came of it last.
func lastVerdicts(notDue []string, d state.Document) []string {
	var said []string
	for _, id := range notDue {
		if last, known := d.Verdicts[id]; known {
			id = fmt.Sprintf("%s (%s at %s)", id, last.Verdict, stamp(last.At))
		}
		said = append(said, id)
	}
	return said
}
