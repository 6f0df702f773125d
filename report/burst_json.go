package report

import "perch.example/probes"

// burstJSON is what the calls of a burst probe met.
type burstJSON struct {
	Requests    int              `json:"requests"`
	Over        float64          `json:"over_seconds"`
	Connections int              `json:"connections"`
	Gap         float64          `json:"gap_seconds"`
	Order       probes.PoolOrder `json:"pool_order"`
	Bursts      []burstSumJSON   `json:"bursts"`
	Ended       string           `json:"ended_early,omitzero"`
	NotMade     int              `json:"calls_not_made,omitzero"`
}

type burstSumJSON struct {
	Burst    int     `json:"burst"`
	Calls    int     `json:"calls"`
	Fresh    int     `json:"fresh"`
	Reused   int     `json:"reused"`
	Dead     int     `json:"dead"`
	Failed   int     `json:"failed"`
	First    int     `json:"first_dead,omitzero"`
	Last     int     `json:"last_dead,omitzero"`
	Which    []int   `json:"dead_calls,omitempty"`
	Idle     float64 `json:"longest_idle_seconds,omitzero"`
	DeadIdle float64 `json:"dead_after_seconds,omitzero"`
	DeadMost float64 `json:"dead_after_at_most_seconds,omitzero"`
}

// predictionJSON is what an application's calls would meet.
type predictionJSON struct {
	Source      string           `json:"source"`
	Client      string           `json:"client"`
	Order       probes.PoolOrder `json:"pool_order"`
	Connections int              `json:"connections,omitzero"`
	Timeout     float64          `json:"idle_timeout_seconds"`
	Calls       int              `json:"calls"`
	Fresh       int              `json:"fresh"`
	Dead        int              `json:"dead"`
	Failed      int              `json:"failed"`
	Gaps        int              `json:"gaps"`
	InBand      int              `json:"gaps_in_danger_band"`
	DeadShare   float64          `json:"dead_share"`
	FailedShare float64          `json:"failed_share"`
	BandShare   float64          `json:"gaps_in_danger_band_share"`
}

func newBurst(o probes.Outcome) *burstJSON {
	if o.Burst == nil {
		return nil
	}
	s := o.Burst.Shape
	b := &burstJSON{
		Requests: s.Requests, Over: seconds(s.Over), Connections: s.Connections, Gap: seconds(s.Gap), Order: o.Burst.Order, Bursts: []burstSumJSON{},
	}
	if burstEnded(o.Burst) != "" {
		b.Ended, b.NotMade = o.Burst.Ended, o.Burst.NotMade()
	}
	which := deadCalls(o)
	for _, sum := range o.Burst.Sums(o.Attempts) {
		b.Bursts = append(b.Bursts, burstSumJSON{
			Burst: sum.Burst, Calls: sum.Calls, Fresh: sum.Fresh, Reused: sum.Reused, Dead: sum.Dead, Failed: sum.Failed,
			First: sum.First, Last: sum.Last, Which: which[sum.Burst], Idle: seconds(sum.Idle), DeadIdle: seconds(sum.DeadIdle), DeadMost: seconds(sum.DeadMost),
		})
	}
	return b
}

// deadCalls are the calls that drew a dead connection, by burst, as they are counted in it.
func deadCalls(o probes.Outcome) map[int][]int {
	which := map[int][]int{}
	for _, c := range o.Burst.Calls {
		if c.Attempt >= 0 && c.Attempt < len(o.Attempts) && o.Attempts[c.Attempt].DrewDead() {
			which[c.Burst] = append(which[c.Burst], c.Number)
		}
	}
	return which
}

func newPredictions(all []probes.Prediction) []predictionJSON {
	var out []predictionJSON
	for _, p := range all {
		out = append(out, predictionJSON{
			Source: p.Source, Client: p.Client, Order: p.Order, Connections: p.Connections, Timeout: seconds(p.Timeout), Calls: p.Calls,
			Fresh: p.Fresh, Dead: p.Dead, Failed: p.Failed, Gaps: p.Gaps, InBand: p.InBand,
			DeadShare: p.DeadShare(), FailedShare: p.FailedShare(), BandShare: p.BandShare(),
		})
	}
	return out
}
