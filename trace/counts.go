package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Counts turns counters and histograms that only grow into what they grew since that
// was last sent. What could not be sent is kept and added to: nothing that grew is
// lost while the Counts, or what Unsent wrote, are there. The zero value counts from
// nothing on. It is safe for concurrent use, by one who sends at a time: what grows
// meanwhile may be written by Unsent, and is not taken for sent.
type Counts struct {
	mu     sync.Mutex
	base   totals    // what was counted when Take was last called
	unsent totals    // what grew until then, and was not sent
	from   time.Time // since when; zero: since Start
	start  time.Time
}

// Start counts from the families' values on: a run begins with what earlier runs
// counted, and have sent.
func (c *Counts) Start(families Families, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.start = read(families), now
}

// Owes reports whether there is something that was to be sent, now or by an earlier
// run, and is not known to have arrived.
func (c *Counts) Owes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unsent) > 0
}

// begin returns what is to be sent, and the time in which it grew.
func (c *Counts) begin(families Families, now time.Time) ([]*point, window) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(families, now)
	return c.unsent.sorted(), window{c.from, now}
}

// take moves what grew since the last time to what is to be sent. The lock is held, as
// it is wherever the families are read: they only grow.
func (c *Counts) take(families Families, now time.Time) {
	current := read(families)
	if c.unsent == nil {
		c.unsent = totals{}
	}
	if c.from.IsZero() {
		c.from = c.start
	}
	c.unsent.add(current.since(c.base))
	c.base, c.start = current, now
}

// sent forgets what was sent, or was refused for good. What grew since is kept.
func (c *Counts) sent(points []*point) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range points {
		key := p.key()
		now := c.unsent[key]
		if now == nil {
			continue
		}
		if delete(c.unsent, key); now == p {
			continue
		}
		if grown := now.since(p); grown != nil {
			c.unsent[key] = grown
		}
	}
}

// done ends a sending of which everything was sent: what is left grew since.
func (c *Counts) done(w window) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from = w.to; len(c.unsent) == 0 {
		c.from = time.Time{}
	}
}

// unsentVersion is written, and the only one that is read.
const unsentVersion = 1

// maxUnsent bounds what Restore reads.
const maxUnsent = 16 << 20

// unsent is what Unsent writes.
type unsent struct {
	Version int       `json:"v"`
	From    time.Time `json:"from"`
	Series  []*point  `json:"series"`
}

// Unsent returns what grew and was not sent, for the next run's Restore; nil: there is
// nothing. Beyond limit bytes there is none for it, which is the error; these Counts
// still have it.
func (c *Counts) Unsent(families Families, now time.Time, limit int) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(families, now)
	if len(c.unsent) == 0 {
		c.from = time.Time{}
		return nil, nil
	}
	raw, err := json.Marshal(unsent{unsentVersion, c.from.UTC(), c.unsent.sorted()})
	if err != nil {
		return nil, fmt.Errorf("writing what OTLP was not told: %w", err)
	}
	if len(raw) > limit {
		return nil, fmt.Errorf("what %d series grew could not be sent by OTLP, and is lost where this process cannot send it: it takes %d bytes of the state, at most %d are kept", len(c.unsent), len(raw), limit)
	}
	return raw, nil
}

// Restore takes over what an earlier run's Unsent wrote; it comes before Start. An
// empty one is nothing. What cannot be read is left out, and is the error.
func (c *Counts) Restore(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > maxUnsent {
		return fmt.Errorf("reading what OTLP was not told: %d bytes, at most %d are ever written (it is left out)", len(raw), maxUnsent)
	}
	var u unsent
	if err := json.Unmarshal(raw, &u); err != nil {
		return fmt.Errorf("reading what OTLP was not told: %w (it is left out)", err)
	}
	if u.Version != unsentVersion {
		return fmt.Errorf("reading what OTLP was not told: version %d, want %d (it is left out)", u.Version, unsentVersion)
	}
	all := totals{}
	for i, p := range u.Series {
		if p == nil || !p.whole() {
			return fmt.Errorf("reading what OTLP was not told: series %d is none that a run has written (all of it is left out)", i)
		}
		all[p.key()] = p
	}
	if len(all) > 0 && u.From.UnixNano() <= 0 {
		return errors.New("reading what OTLP was not told: it does not say since when (it is left out)")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsent, c.from = all, u.From
	return nil
}

// whole reports whether a point that was stored can be one.
func (p *point) whole() bool {
	if p.Name == "" || len(p.Labels)%2 != 0 {
		return false
	}
	for i, text := range p.Labels {
		if text != clean(text) {
			return false
		}
		p.Labels[i] = text
	}
	if p.Hist != nil {
		return p.Value == 0 && p.Hist.whole()
	}
	return p.Value > 0 && p.Value <= 1<<53
}
