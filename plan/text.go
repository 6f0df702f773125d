package plan

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"perch.example/probes"
)

// Text writes the plan for people: every step, what it asks of each target
// against its limits, and what the run takes in all. Its error is the writer's.
func (p *Plan) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s, %s requests, done after %s (seed %d)\n",
		p.Name, count(len(p.Steps), "step"), span(p.Requests, p.MaxRequests), short(p.Wall), p.Seed)
	if len(p.Steps) > 0 {
		b.WriteString("\n")
		p.stepTable().write(&b)
		b.WriteString("\n")
		p.targetTable().write(&b)
	}
	b.WriteString("\n")
	p.totals().write(&b)
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (p *Plan) stepTable() *table {
	g := &table{right: []bool{true, false, false, true, true, true}}
	g.row("start", "probe", "kind", "hold", "ends", "requests", p.fromTitle())
	for _, s := range p.Steps {
		hold, usual, most := "", 1, max(1, s.Spec.Retry.Attempts)
		if s.Spec.Kind == probes.KindIdle {
			hold, usual, most = short(s.Hold), 2, 3
		}
		if many(s.Spec) {
			usual, most = s.Spec.Requests, s.Spec.Requests+1
			s.From = "one each " + short(s.Spec.Gap) + ", on one connection"
		}
		if b := s.Spec.Burst; b != nil {
			usual, most = b.Calls(), b.Calls()+b.Bursts
			s.From = burstText(s.Spec)
		}
		most *= eachOf(s.Spec) * (1 + s.Spec.Redirects)
		g.row(short(s.Start), s.Spec.ID(), done(s.Spec), hold, short(s.end()), span(usual, most), s.From)
	}
	return g
}

// done is the kind of a probe, and what it calls where that is gRPC, else the protocol
// where that is not HTTP/1.1.
func done(s *probes.Spec) string {
	switch speaks := s.Speaks(); {
	case s.GRPC != nil:
		return string(s.Kind) + " " + s.GRPC.Sends()
	case speaks != probes.ProtocolHTTP1 && s.Kind != probes.KindTLS:
		return string(s.Kind) + " " + string(speaks)
	default:
		return string(s.Kind)
	}
}

// fromTitle heads the column that says what each hold follows from.
func (p *Plan) fromTitle() string {
	if p.LongestHold == 0 {
		return ""
	}
	return "hold from"
}

func (p *Plan) targetTable() *table {
	g := &table{}
	g.row("target", "budget", "at most", "peak", "this run", "a day", "open")
	for _, c := range p.Targets {
		g.row(c.Target,
			fmt.Sprintf("%s/s (%s of %s/s)", number(c.Rate), percent(c.Share), number(c.RateLimit)),
			fmt.Sprintf("%d in %s", c.Allowed, short(c.Window)),
			fmt.Sprintf("%s in 1s", number(c.Peak)),
			span(c.Requests, c.MaxRequests),
			c.dailyText(),
			fmt.Sprintf("%d of %d", c.PeakOpen, c.MaxConnections))
	}
	return g
}

// dailyText is "864 of 5000"; what is sent by probes without an `every` is said
// apart, as nobody knows here how often the run is started.
func (c TargetCost) dailyText() string {
	var text string
	switch {
	case c.EachRun == 0:
		text = fmt.Sprintf("%d of %d", c.Daily, c.DailyLimit)
	case c.Daily == 0:
		text = fmt.Sprintf("%d each run, of %d", c.EachRun, c.DailyLimit)
	default:
		text = fmt.Sprintf("%d, and %d each run, of %d", c.Daily, c.EachRun, c.DailyLimit)
	}
	if c.DailyUsed > 0 {
		text += fmt.Sprintf(" (%d used)", c.DailyUsed)
	}
	return text
}

func (p *Plan) totals() *table {
	g := &table{}
	if p.LongestHold > 0 {
		g.row("longest hold", short(p.LongestHold))
	}
	wall := short(p.Wall)
	if p.LongestWall > 0 {
		also := ""
		if p.Settle > 0 {
			also = fmt.Sprintf(", and %s pass before a connection opens (alerts.settle)", short(p.Settle))
		}
		wall += fmt.Sprintf(" (%s if every timeout is used up%s)", short(p.LongestWall), also)
	}
	if p.Every > 0 {
		wall += ", the shortest every is " + short(p.Every)
	}
	g.row("wall time", wall)
	g.row("open at most", count(p.PeakOpen, "connection"))
	if p.Series > 0 {
		g.row("time series", fmt.Sprintf("%d of %d", p.Series, p.MaxSeries))
	}
	if p.Told != "" {
		g.row("notices", p.Told)
	}
	if p.State != "" {
		g.row("state", p.State)
	}
	p.declared(g)
	if p.Policy != "" {
		g.row("policy", p.Policy)
	}
	if len(p.NotDue) > 0 {
		g.row("not due", strings.Join(p.NotDue, ", "))
	}
	return g
}

// span is "2", or "2 to 3".
func span(usual, most int) string {
	if usual == most {
		return strconv.Itoa(usual)
	}
	return fmt.Sprintf("%d to %d", usual, most)
}

// count is "1 step", "2 steps".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
