package alert

import (
	"time"

	"perch.example/probes"
)

// The places of the latency's picture, in points.
const (
	latencyLeft  = 96
	latencyRight = 770
	latencyTop   = 72
	latencyFoot  = 74
	latencyLane  = 84
)

// drawLatency draws attempts as PNG: a lane for each kind of connection, in it a
// sign an attempt at what it took, the first on top, and the round trip as a
// line. Nothing, if no attempt took time.
func drawLatency(charts Charts) ([]byte, error) {
	charts = charts.bounded()
	lanes := charts.lanes()
	if len(lanes) == 0 {
		return nil, nil
	}
	bottom := float64(latencyTop + latencyLane*len(lanes))
	c, err := newCanvas(bottom + latencyFoot)
	if err != nil {
		return nil, err
	}
	rtt := charts.roundTrip()
	times := []time.Duration{rtt}
	for _, l := range lanes {
		for _, attempt := range l.attempts {
			times = append(times, attempt.Elapsed)
		}
	}
	a := newAxis(times, latencyLeft, latencyRight-20)
	c.print(spot{20, 32}, styleTitle, c.text, "How long each attempt took, by its connection")
	c.drawAxis(a, spot{latencyTop, bottom}, inMilliseconds, "from the request to the answer's end, ms")
	c.drawRoundTrip(rtt, a, bottom)
	for n, l := range lanes {
		c.drawLane(l, a, latencyTop+latencyLane*float64(n))
	}
	c.drawLatencyKey(bottom + 58)
	return c.png()
}

// lane is one kind of connection and its attempts.
type lane struct {
	connection probes.Connection
	attempts   []ChartAttempt
}

// lanes are the kinds of connection that were tried, in the order of a rung.
func (c Charts) lanes() []lane {
	var all []lane
	for _, kind := range []probes.Connection{probes.ConnectionFresh, probes.ConnectionReused, probes.ConnectionControl} {
		l := lane{connection: kind}
		for _, a := range c.Latency {
			if a.Connection == kind && a.Elapsed > 0 {
				l.attempts = append(l.attempts, a)
			}
		}
		if len(l.attempts) > 0 {
			all = append(all, l)
		}
	}
	return all
}

// drawLane draws the attempts below each other. Of a few each is named.
func (c *canvas) drawLane(l lane, a axis, top float64) {
	const pad, few = 14, 4
	c.rect(spot{20, top}, spot{latencyRight, top + 0.5}, c.grid)
	c.print(spot{20, top + latencyLane/2 + 4}, styleText, c.text, string(l.connection))
	step := (latencyLane - 2*pad) / float64(len(l.attempts))
	for n, attempt := range l.attempts {
		at := spot{a.at(attempt.Elapsed), top + pad + step*(float64(n)+0.5)}
		text := latency(attempt.Elapsed)
		if attempt.OK {
			c.disc(at, 4.5, c.alive)
		} else {
			text += " failed"
			c.cross(at, 5, 2.5, c.bad)
		}
		if len(l.attempts) > few {
			continue
		}
		x := at.x + 11
		if x+c.width(styleSmall, text) > latencyRight {
			x = at.x - 11 - c.width(styleSmall, text)
		}
		c.print(spot{x, at.y + 4}, styleSmall, c.text, text)
	}
}

// drawRoundTrip marks the time that nothing on the network can be faster than.
func (c *canvas) drawRoundTrip(rtt time.Duration, a axis, bottom float64) {
	if rtt <= 0 {
		return
	}
	x := a.at(rtt)
	c.vertical(spot{x, latencyTop - 8}, spot{x, bottom}, 5, c.text)
	text := "round trip: " + latency(rtt)
	c.printOver(a, x-c.width(styleSmall, text)/2, latencyTop-13, text)
}

func (c *canvas) drawLatencyKey(y float64) {
	c.disc(spot{31, y - 5}, 4.5, c.alive)
	c.print(spot{44, y - 1}, styleSmall, c.faint, "answered as expected")
	x := 44 + c.width(styleSmall, "answered as expected") + 30
	c.cross(spot{x, y - 5}, 5, 2.5, c.bad)
	c.print(spot{x + 13, y - 1}, styleSmall, c.faint, "failed")
}

// inMilliseconds names a tick of an axis in ms.
func inMilliseconds(d time.Duration) string { return decimal(d, time.Millisecond, 6) }
