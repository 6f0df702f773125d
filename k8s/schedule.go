package k8s

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// usualInterval is how often a config runs that leaves it to the schedule.
const usualInterval = 10 * time.Minute

// schedule is when a CronJob starts its Jobs.
type schedule struct {
	text string        // cron's five fields
	gap  time.Duration // the shortest time between two starts
	runs int           // a day, at most
}

// intervals are those that cron can say evenly: what divides an hour, and a day.
func intervals() []time.Duration {
	var all []time.Duration
	for _, minutes := range []time.Duration{1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30} {
		all = append(all, minutes*time.Minute)
	}
	for _, hours := range []time.Duration{1, 2, 3, 4, 6, 8, 12, 24} {
		all = append(all, hours*time.Hour)
	}
	return all
}

// around returns the intervals next to d that cron can say: the longest that is
// not longer, 0 where there is none, and the shortest that is not shorter, a day at
// most.
func around(d time.Duration) (below, above time.Duration) {
	for _, i := range intervals() {
		if i <= d {
			below = i
		}
		if above == 0 && i >= d {
			above = i
		}
	}
	if above == 0 {
		above = day
	}
	return below, above
}

// schedule chooses the interval and, by a hash, the minute: a fleet of perches
// does not start at once, and one of them starts at the same minute after each
// change.
func (b *maker) schedule() schedule {
	interval := usualInterval
	switch every := b.plan.Every; {
	case b.o.Schedule != "":
		return b.given()
	case every > 0 && every < time.Minute:
		b.refuse("the shortest every is %s, and a CronJob starts once a minute at most: want --kind deployment, or every: 1m", probes.Spoken(every))
		return schedule{}
	case every > 0:
		interval = b.evenly(every)
	}
	return b.every(interval)
}

// evenly is the interval for the shortest every. Of the two next to it that cron
// can say it is the longer one: with the shorter one a probe would not be due in
// each second run, and run even more seldom.
func (b *maker) evenly(every time.Duration) time.Duration {
	below, above := around(every)
	switch {
	case every == above:
	case every > day && !b.cfg.State.Kept():
		b.refuse("the shortest every is %s, and without a state a run a day would send everything each day: want a state, --schedule, or every: 24h", probes.Spoken(every))
	case every > day:
		b.note("the shortest every is %s: a run starts each day, and probes what is due then", probes.Spoken(every))
	default:
		b.note("the shortest every is %s, which cron cannot say evenly: a run starts each %s; every: %s or %s is kept exactly",
			probes.Spoken(every), probes.Spoken(above), probes.Spoken(below), probes.Spoken(above))
	}
	return above
}

// given is the schedule of the command line.
func (b *maker) given() schedule {
	text := strings.TrimSpace(b.o.Schedule)
	if interval, err := time.ParseDuration(text); err == nil {
		below, above := around(interval)
		if interval == above {
			b.sayRarer(interval)
			return b.every(interval)
		}
		near := probes.Spoken(above)
		if below > 0 && below != above {
			near = probes.Spoken(below) + " or " + near
		}
		b.refuse("--schedule %s: cron cannot say this interval evenly, want %s", text, near)
		return schedule{}
	}
	c, err := parseCron(text)
	if err != nil {
		b.refuse("--schedule %q: %w", text, err)
		return schedule{}
	}
	s := schedule{text: strings.Join(strings.Fields(text), " "), gap: c.gap(), runs: c.runs()}
	b.sayRarer(s.gap)
	if !c.daily {
		b.note("--schedule %q: on the days that it leaves out nothing is probed, whatever the every", text)
	}
	return s
}

// sayRarer tells when the schedule of the command line is rarer than a probe is
// due.
func (b *maker) sayRarer(gap time.Duration) {
	if every := b.plan.Every; every > 0 && gap > every {
		b.note("--schedule %q: the shortest every is %s, and a run starts each %s at most", strings.TrimSpace(b.o.Schedule), probes.Spoken(every), probes.Spoken(gap))
	}
}

// every is the schedule of an interval that cron can say.
func (b *maker) every(interval time.Duration) schedule {
	minutes := int(interval / time.Minute)
	at := int(b.hash() % uint64(minutes))
	s := schedule{gap: interval, runs: int(day / interval)}
	switch {
	case minutes == 1:
		s.text = "* * * * *"
	case minutes < 60:
		s.text = fmt.Sprintf("%d-59/%d * * * *", at, minutes)
	case minutes == 60:
		s.text = fmt.Sprintf("%d * * * *", at)
	case interval == day:
		s.text = fmt.Sprintf("%d %d * * *", at%60, at/60)
	default:
		s.text = fmt.Sprintf("%d %s * * *", at%60, strconv.Itoa(at/60)+"-23/"+strconv.Itoa(minutes/60))
	}
	return s
}

// hash is a number of this perch's own, the same each time.
func (b *maker) hash() uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.o.Name, b.cfg.Name, b.cfg.Vantage, b.o.Namespace}, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}

// checkDay refuses a schedule whose runs send more in a day than a target's
// daily_limit: the last runs of each day would send nothing to it.
func (b *maker) checkDay(s schedule) {
	for _, c := range b.plan.Targets {
		sent := c.MaxRequests * s.runs
		if b.cfg.State.Kept() { // without, nothing is ever not due
			sent = min(sent, c.Daily+c.EachRun*s.runs)
		}
		if sent <= c.DailyLimit {
			continue
		}
		b.refuse("%s: %d runs a day send up to %d requests, daily_limit is %d: %s", c.Target, s.runs, sent, c.DailyLimit, b.rarer(c.Daily, c.EachRun, c.DailyLimit))
	}
}

// rarer says what would keep within a day's limit.
func (b *maker) rarer(daily, eachRun, limit int) string {
	if !b.cfg.State.Kept() {
		return "want a state, which counts them and keeps each probe's every, or a rarer --schedule"
	}
	for _, i := range intervals() {
		if daily+eachRun*int(day/i) <= limit {
			return "--schedule " + probes.Spoken(i) + " would fit"
		}
	}
	return "want fewer probes, or an every for them"
}
