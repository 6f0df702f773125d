package plan

import (
	"fmt"
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// slowestPackets is the longest of the common bounds after which a path forgets
// a connection in silence (field facts: IPVS). TCP keep-alive that is rarer
// prevents nothing, so it is not worth a hold.
const slowestPackets = 15 * time.Minute

// limit is an idle age at which the declared client changes what it does.
type limit struct {
	key string // of the config
	at  time.Duration
}

// clientLimits returns the idle age at which the declared client stops using a
// connection, and the one from which it looks first, as configured or by its own
// defaults. It never looks at what it has dropped before.
func clientLimits(c *probes.Client) []limit {
	if c == nil {
		return nil
	}
	known, _ := clients.Lookup(c.Kind)
	stops, looks := known.MaxIdle(*c, 0), known.ValidateAfter(*c)
	var limits []limit
	if stops.Mode == probes.LimitAfter {
		limits = append(limits, limit{"max_idle", stops.After})
	}
	if looks.Mode == probes.LimitAfter && (stops.Mode != probes.LimitAfter || looks.After < stops.After) {
		limits = append(limits, limit{"validate_after", looks.After})
	}
	return limits
}

// straddles returns a rung just below and one just above each limit of the
// declared client: the last age at which it does one thing, and the first at
// which it does another.
func straddles(c *probes.Client) []rung {
	var rungs []rung
	for _, l := range clientLimits(c) {
		words := l.key + " " + short(l.at)
		rungs = append(rungs,
			rung{l.at - near(l.at), rankBelow, "just below " + words},
			rung{l.at + near(l.at), rankAbove, "just above " + words})
	}
	return rungs
}

// packets returns a rung just above the interval of the client's TCP keep-alive,
// which perch keeps while holding, where no other rung is as long: else what
// these packets do would never be part of what is measured. A rung below it
// would show what all the others show.
func (l *ladder) packets() []rung {
	c := l.spec.Client
	if c == nil || c.TCPKeepAlive == 0 || c.TCPKeepAlive > slowestPackets {
		return nil
	}
	every := c.TCPKeepAlive
	if slices.ContainsFunc(l.rungs, func(r rung) bool { return r.hold > every }) {
		return nil
	}
	return []rung{{every + near(every), rankPackets, "just above tcp_keep_alive " + short(every)}}
}

// inExpectedBand returns a rung inside the client's danger band on a path that
// honours keep_alive, closing or silent, where no other rung lies in it.
func (l *ladder) inExpectedBand() []rung {
	c := l.spec.Client
	if c == nil {
		return nil
	}
	for _, silent := range []bool{false, true} {
		band := clients.BandOn(*c, clients.Path{Timeout: l.spec.KeepAlive, Silent: silent})
		if band == nil || slices.ContainsFunc(l.rungs, func(r rung) bool { return clients.Holds(band, r.hold) }) {
			continue
		}
		if hold := middle(*band, l.longest); hold > 0 {
			return []rung{{hold, rankExpected, bandText(*band) + ", expected"}}
		}
	}
	return nil
}

// inMeasuredBand returns a rung in the middle of the client's danger band on the
// path as the last run saw it: there the application fails, and no rung around
// keep_alive shows it. Where another rung lies well inside, that one is it.
func (l *ladder) inMeasuredBand() []rung {
	band := measuredBand(l.spec, l.end)
	if band == nil {
		return nil
	}
	hold, from := middle(*band, l.longest), bandText(*band)+", last run"
	inside := slices.IndexFunc(l.rungs, func(r rung) bool { return wellInside(*band, r.hold) })
	if inside >= 0 {
		if r := &l.rungs[inside]; r.spare() {
			r.rank, r.from = rankMeasured, from // it must not go before others do
		}
		return nil
	}
	if hold == 0 {
		return nil
	}
	return []rung{{hold, rankMeasured, from}}
}

// measuredBand returns the client's danger band on a path that ends connections
// at that idle age; nil: there is none. That the end could be seen is assumed: a
// silent one has a band that begins there, too, and is never shorter.
func measuredBand(s probes.Spec, end time.Duration) *probes.Band {
	if s.Client == nil || end <= 0 {
		return nil
	}
	return clients.BandOn(*s.Client, clients.Path{Timeout: end})
}

// middle returns a round hold in the middle of a band, or at twice the beginning
// of one that has no end, no longer than the longest; 0: the band has none.
func middle(b probes.Band, longest time.Duration) time.Duration {
	at := (b.From + b.To) / 2
	if b.Open {
		at = 2 * b.From
	}
	if longest > 0 {
		at = min(at, longest)
	}
	step := time.Second
	switch {
	case at < time.Second:
		step = 10 * time.Millisecond
	case at < 10*time.Second:
		step = 100 * time.Millisecond
	}
	// What was measured differs by a millisecond each time; the rung should not.
	if round := at.Round(step); wellInside(b, round) && (longest == 0 || round <= longest) {
		at = round
	}
	if at < leastHold || at <= b.From || !clients.Holds(&b, at) {
		return 0
	}
	return at
}

// wellInside reports whether a hold lies in a band, and not within a quarter of
// it of either end, where the next run's measurement may leave it outside. An
// open band counts as one that ends at three times its beginning.
func wellInside(b probes.Band, hold time.Duration) bool {
	to := b.To
	if b.Open {
		to = 3 * b.From
	}
	quarter := (to - b.From) / 4
	return hold >= b.From+quarter && (b.Open || hold <= to-quarter)
}

// bandText names a band: "danger band 1s to 2s".
func bandText(b probes.Band) string {
	if b.Open {
		return "danger band from " + short(b.From)
	}
	return "danger band " + short(b.From) + " to " + short(b.To)
}

// unseen returns a note where none of the config's own holds lies in the danger
// band that the last run measured; empty: one does, or there is no band.
func unseen(s probes.Spec, end, longest time.Duration) string {
	band := measuredBand(s, end)
	if band == nil || slices.ContainsFunc(s.Holds, func(hold time.Duration) bool { return clients.Holds(band, hold) }) {
		return ""
	}
	hold := middle(*band, longest)
	if hold == 0 {
		return ""
	}
	return fmt.Sprintf("%s: no hold lies in the %s of the last run, where %s uses what is closed: add %s",
		s.ID(), bandText(*band), s.Client.Kind, short(hold))
}
