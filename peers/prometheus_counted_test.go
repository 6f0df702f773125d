//go:build peers

package peers

import (
	"fmt"
	"strings"
)

// counted is what reports say, added up: by the series that hold it.
type counted struct {
	attempts map[string]float64
	answers  map[string][]float64 // how long each took, in seconds
}

func newCounted() *counted {
	return &counted{map[string]float64{}, map[string][]float64{}}
}

func (c *counted) add(r reported) {
	for _, o := range r.Outcomes {
		for _, a := range o.Attempts {
			c.attempts[labels("connection", a.Connection, "probe", o.Probe, "reason", a.Reason, "target", o.Target)]++
			if a.Status != 0 {
				series := labels("connection", a.Connection, "probe", o.Probe, "target", o.Target)
				c.answers[series] = append(c.answers[series], a.Elapsed)
			}
		}
	}
}

func (c *counted) forget(target string) {
	for series := range c.attempts {
		if strings.Contains(series, target) {
			delete(c.attempts, series)
		}
	}
	for series := range c.answers {
		if strings.Contains(series, target) {
			delete(c.answers, series)
		}
	}
}

// labels writes label pairs, given in their order, as the query helpers do.
func labels(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "{%s=%q}", pairs[i], pairs[i+1])
	}
	return b.String()
}

// seenBy says what a Prometheus does not hold yet of the first n runs. What is
// not in c must be zero or gone.
func (c *counted) seenBy(p prometheus, n int) error {
	if err := p.scraped(n); err != nil {
		return err
	}
	held, err := p.ask(`perch_attempts_total`)
	if err != nil {
		return err
	}
	for series, v := range held {
		if v.value != c.attempts[series] {
			return fmt.Errorf("%s is %v, the reports say %v", series, v.value, c.attempts[series])
		}
	}
	for series := range c.attempts {
		if _, there := held[series]; !there {
			return fmt.Errorf("%s is not there", series)
		}
	}
	return c.seenClassic(p)
}

func (c *counted) seenClassic(p prometheus) error {
	held, err := p.ask(`perch_attempt_duration_seconds_bucket`)
	if err != nil {
		return err
	}
	for series, v := range held {
		bound := 0.0
		plain := ""
		for part := range strings.SplitAfterSeq(series, "}") {
			if le, is := strings.CutPrefix(part, `{le="`); is {
				bound = number(strings.TrimSuffix(le, `"}`))
				continue
			}
			plain += part
		}
		if want := within(c.answers[plain], 0, bound); v.value != want {
			return fmt.Errorf("%s holds %v, the reports say %v", series, v.value, want)
		}
	}
	const buckets = 11
	if len(held) < buckets*len(c.answers) {
		return fmt.Errorf("%d buckets of %d series", len(held), len(c.answers))
	}
	return nil
}

// seenNative is seenBy for a Prometheus that takes native histograms: each
// bucket that it holds has what the reports say lies within.
func (c *counted) seenNative(p prometheus, n int) error {
	if err := p.scraped(n); err != nil {
		return err
	}
	held, err := p.ask(`perch_attempt_duration_seconds`)
	if err != nil {
		return err
	}
	for series, took := range c.answers {
		h := held[series].native
		if h == nil {
			return fmt.Errorf("%s is no native histogram", series)
		}
		if h.count != float64(len(took)) {
			return fmt.Errorf("%s counts %v, the reports say %d", series, h.count, len(took))
		}
		all := 0.0
		for _, b := range h.buckets {
			if want := within(took, b.from, b.to); b.count != want {
				return fmt.Errorf("%s holds %v from %v to %v, the reports say %v", series, b.count, b.from, b.to, want)
			}
			if b.to > 1.1*b.from {
				return fmt.Errorf("%s has a bucket from %v to %v: its resolution is gone", series, b.from, b.to)
			}
			all += b.count
		}
		if all != h.count {
			return fmt.Errorf("%s has %v in its buckets and counts %v", series, all, h.count)
		}
	}
	return nil
}

// within counts the values above from and up to to.
func within(values []float64, from, to float64) float64 {
	n := 0.0
	for _, v := range values {
		if v > from && v <= to {
			n++
		}
	}
	return n
}
