package clients

import (
	"net/http"
	"time"

	"perch.example/probes"
)

// Path is what was measured of how a path ends idle connections.
type Path struct {
	Timeout    time.Duration // idle age at which it ends them; 0: unknown
	Margin     time.Duration // round trip and resolution: that much earlier a request can already lose the race
	Advertised time.Duration // Keep-Alive: timeout=N; 0: none
	Silent     bool          // nothing is sent when it ends: looking cannot see it
	Packets    time.Duration // how often TCP keep-alive was sent on what ended all the same; 0: never
	Spread     time.Duration // from the earliest end seen to the latest: servers that look at a tick
	End        probes.Reason // what a request on an ended one meets; empty: a close that everyone sees who looks
	HTTP2      bool          // its connections spoke HTTP/2
	Unseen     bool          // no end was seen, only that one had come by Timeout: somewhere after Survived
	Survived   time.Duration // with Unseen: the longest idle age below Timeout that worked; 0: none did
}

// Reckoning is how the longest safe idle time of a path comes about.
type Reckoning struct {
	Timeout time.Duration // what was measured, as a server's setting has it: two digits
	Margin  time.Duration // for round trip and ticks
	Spread  time.Duration // of ends further apart than the margin is for; else 0
	Safe    time.Duration // rounded down to what people write; 0: no timeout is known, or nothing worked
}

// Reckon says what is safe: the timeout less 10%, at least 100 ms and two round
// trips, and less the spread of ends that are more than 2% apart; never less
// than half of it. Of an end that was not seen only what worked is safe. Servers
// are set to round timeouts and end a little before or after: measurements of one
// timeout come to one value, so that a setting need not follow each of them.
func (p Path) Reckon() Reckoning {
	r := Reckoning{Timeout: twoDigits(p.Timeout + p.Timeout/200)}
	r.Margin = max(r.Timeout/10, 100*time.Millisecond, 2*p.Margin)
	if p.Spread > p.Timeout/50 {
		r.Spread = p.Spread
	}
	safe := max(r.Timeout-r.Margin-r.Spread, r.Timeout/2)
	if p.Unseen {
		safe = min(safe, p.Survived)
	}
	step := 10 * time.Millisecond
	switch {
	case safe >= 10*time.Second:
		step = time.Second
	case safe >= 500*time.Millisecond:
		step = 50 * time.Millisecond
	}
	r.Safe = safe.Truncate(step)
	return r
}

// twoDigits rounds down to two significant digits.
func twoDigits(d time.Duration) time.Duration {
	step := time.Duration(1)
	for d/step >= 100 {
		step *= 10
	}
	return d.Truncate(step)
}

// Safe is the longest idle time that is safe on the path, in Reckon's way.
func (p Path) Safe() time.Duration { return p.Reckon().Safe }

// begins is the idle age from which a connection may have ended, or end while
// the request travels: the earliest end less round trip and resolution.
func (p Path) begins() time.Duration {
	if p.Unseen {
		return min(p.Survived, p.Timeout)
	}
	return max(0, p.Timeout-p.Margin)
}

// BandOn returns the idle ages at which the client would use a connection that
// the path has already closed; nil: there are none, or the client is not known.
// A silent end is not seen by looking; TCP keep-alive more often than the timeout
// prevents it, unless it was measured not to. Nor is one seen that comes when the request does; and some ends
// only some clients notice.
func BandOn(decl probes.Client, path Path) *probes.Band {
	client, ok := Lookup(decl.Kind)
	if !ok || path.Timeout <= 0 {
		return nil
	}
	if path.Silent && path.keptBy(decl.TCPKeepAlive) {
		return nil
	}
	decl.HTTP2 = path.HTTP2
	if !BandKnown(decl, path) {
		return nil
	}
	band := probes.Band{From: path.begins(), Open: true}
	band = endAt(band, client.Idle.latest(client.MaxIdle(decl, path.Advertised)))
	if !path.Silent {
		band = endAt(band, client.notices(decl, path.End))
	}
	if !band.Open && band.To <= band.From {
		return nil
	}
	return &band
}

// keptBy reports whether TCP keep-alive as often as that keeps the path from
// forgetting. What was forgotten in spite of it, or of more of it, is not.
func (p Path) keptBy(every time.Duration) bool {
	return every > 0 && every < p.Timeout && (p.Packets == 0 || every < p.Packets)
}

// BandKnown reports whether it is known at which idle ages the client would use such a
// connection, and so what no band of BandOn means.
func BandKnown(decl probes.Client, path Path) bool {
	client, ok := Lookup(decl.Kind)
	switch speaks, _ := SpeaksHTTP2(decl.Kind); {
	case !ok, path.HTTP2 && !speaks.HTTP2:
		return false
	default:
		return !path.HTTP2 || path.Silent || client.saysOf(path.End)
	}
}

// saysOf reports whether it is known what the client does over HTTP/2 with
// connections that end so.
func (c Client) saysOf(end probes.Reason) bool {
	_, known := c.fact(eventOf(end), true)
	return known
}

// notices is the idle age from which the client notices that end before it sends
// anything, whatever the method: when it looks, unless looking shows it nothing,
// or always where it need not look.
func (c Client) notices(decl probes.Client, end probes.Reason) probes.Limit {
	looks := c.ValidateAfter(decl)
	if end == "" {
		return looks
	}
	decl.MaxIdle = none() // to drop it is another matter
	at := func(idle time.Duration) bool {
		return meet(decl, end, http.MethodGet, idle).result == Noticed && meet(decl, end, http.MethodPost, idle).result == Noticed
	}
	switch {
	case at(0):
		return always()
	case looks.Mode == probes.LimitAfter && at(looks.After):
		return looks
	}
	return none()
}

// Holds reports whether an idle age lies in the band.
func Holds(b *probes.Band, idle time.Duration) bool {
	return b != nil && idle >= b.From && (b.Open || idle < b.To)
}

// endAt lets the band end where a limit stops or looks first.
func endAt(b probes.Band, limit probes.Limit) probes.Band {
	var end time.Duration
	switch limit.Mode {
	case probes.LimitDefault, probes.LimitNone:
		return b
	case probes.LimitAlways:
		end = 0
	case probes.LimitAfter:
		end = limit.After
	}
	if b.Open || end < b.To {
		b.To, b.Open = end, false
	}
	return b
}

// latest is the age up to which a connection may still be used under a limit:
// a client that sweeps drops it up to one sweep late.
func (l IdleLimit) latest(limit probes.Limit) probes.Limit {
	if limit.Mode == probes.LimitAfter {
		limit.After += l.late(limit.After)
	}
	return limit
}

// late is the time between two sweeps; 0: the client drops on time.
func (l IdleLimit) late(limit time.Duration) time.Duration {
	if l.Sweeps <= 0 {
		return 0
	}
	return max(limit/time.Duration(l.Sweeps), time.Second)
}

// Settable is the limit to set so that nothing that was idle for longer than
// safe is used: less than safe for a client that drops up to one sweep late. 0:
// not even the shortest limit would do.
func (l IdleLimit) Settable(safe time.Duration) time.Duration {
	if l.Sweeps <= 0 {
		return safe
	}
	n := time.Duration(l.Sweeps)
	return max(0, min(safe*n/(n+1), safe-time.Second)).Truncate(10 * time.Millisecond)
}

// MaxIdle is the age at which the client drops a connection by itself.
// advertised is the answer's hint; 0: there was none.
func (c Client) MaxIdle(decl probes.Client, advertised time.Duration) probes.Limit {
	if decl.MaxIdle.Mode != probes.LimitDefault {
		return decl.MaxIdle
	}
	if c.Idle.Hint && advertised > 0 {
		return after(max(0, advertised-c.Idle.Margin))
	}
	return c.Idle.Limit
}

// ValidateAfter is the age from which the client looks before it uses.
func (c Client) ValidateAfter(decl probes.Client) probes.Limit {
	if c.Looks.Fixed || decl.ValidateAfter.Mode == probes.LimitDefault {
		return c.Looks.Limit
	}
	return decl.ValidateAfter
}

// looksAt reports whether the client looks at a connection of that idle age.
func (c Client) looksAt(decl probes.Client, idle time.Duration) bool {
	limit := c.ValidateAfter(decl)
	switch limit.Mode {
	case probes.LimitAlways:
		return true
	case probes.LimitAfter:
		return idle >= limit.After
	case probes.LimitDefault, probes.LimitNone:
		return false
	}
	return false
}
