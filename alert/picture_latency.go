package alert

import (
	"time"

	"perch.example/internal/canvas"
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
	d := newDrawing(bottom + latencyFoot)
	rtt := charts.roundTrip()
	times := []time.Duration{rtt}
	for _, l := range lanes {
		for _, attempt := range l.attempts {
			times = append(times, attempt.Elapsed)
		}
	}
	a := newAxis(times, latencyLeft, latencyRight-20)
	d.Print(canvas.At(20, 32), titleFace(), d.text, "How long each attempt took, by its connection")
	d.drawAxis(a, canvas.At(latencyTop, bottom), inMilliseconds, "from the request to the answer's end, ms")
	d.drawRoundTrip(rtt, a, bottom)
	for n, l := range lanes {
		d.drawLane(l, a, latencyTop+latencyLane*float64(n))
	}
	d.drawLatencyKey(bottom + 58)
	return d.png()
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
func (d *drawing) drawLane(l lane, a axis, top float64) {
	const pad, few = 14, 4
	d.Fill(canvas.At(20, top), canvas.At(latencyRight, top+0.5), d.grid)
	d.Print(canvas.At(20, top+latencyLane/2+4), textFace(), d.text, string(l.connection))
	step := (latencyLane - 2*pad) / float64(len(l.attempts))
	for n, attempt := range l.attempts {
		at := canvas.At(a.at(attempt.Elapsed), top+pad+step*(float64(n)+0.5))
		text := latency(attempt.Elapsed)
		if attempt.OK {
			d.disc(at, 4.5, d.alive)
		} else {
			text += " failed"
			d.cross(at, 5, 2.5, d.bad)
		}
		if len(l.attempts) > few {
			continue
		}
		x := at.X + 11
		if x+d.Width(smallFace(), text) > latencyRight {
			x = at.X - 11 - d.Width(smallFace(), text)
		}
		d.Print(canvas.At(x, at.Y+4), smallFace(), d.text, text)
	}
}

// drawRoundTrip marks the time that nothing on the network can be faster than.
func (d *drawing) drawRoundTrip(rtt time.Duration, a axis, bottom float64) {
	if rtt <= 0 {
		return
	}
	x := a.at(rtt)
	d.vertical(canvas.At(x, latencyTop-8), canvas.At(x, bottom), 5, d.text)
	text := "round trip: " + latency(rtt)
	d.printOver(a, x-d.Width(smallFace(), text)/2, latencyTop-13, text)
}

func (d *drawing) drawLatencyKey(y float64) {
	d.disc(canvas.At(31, y-5), 4.5, d.alive)
	d.Print(canvas.At(44, y-1), smallFace(), d.faint, "answered as expected")
	x := 44 + d.Width(smallFace(), "answered as expected") + 30
	d.cross(canvas.At(x, y-5), 5, 2.5, d.bad)
	d.Print(canvas.At(x+13, y-1), smallFace(), d.faint, "failed")
}

// inMilliseconds names a tick of an axis in ms.
func inMilliseconds(d time.Duration) string { return decimal(d, time.Millisecond, 6) }
