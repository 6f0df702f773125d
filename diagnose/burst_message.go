package diagnose

import (
	"fmt"
	"strings"

	"perch.example/probes"
)

// inBurst says of the message of the call that decides which of a burst's calls it is
// about.
func (j *judgement) inBurst(seen probes.BurstSeen, attempts []probes.Attempt, message string) string {
	sums := seen.Sums(attempts)
	total := probes.Total(sums)
	order := "; pool order " + orderWords(seen.Order)
	switch {
	case j.rung.obs.Cut != "":
		return message
	case j.reused() && j.at.DrewDead():
		return drewDead(sums, j.burstOf(seen), j.rung.obs.Close != nil) + order + ": " + message
	case j.at != nil && j.at.OK() && j.verdict == probes.VerdictPass:
		return fmt.Sprintf("%s in %s were answered%s", countOf(total.Calls, "call"), countOf(len(sums), "burst"), reusedWords(total)) + order
	}
	c := j.callOf(seen)
	text := fmt.Sprintf("call %d of burst %d (%d of %d calls failed): %s", c.Number, c.Burst, total.Dead+total.Failed, total.Calls, message)
	if total.Dead > 0 {
		text += fmt.Sprintf("; besides, %s drew dead connections (after %s idle)", countOf(total.Dead, "call"), deadAfter(total)) + order
	}
	return text
}

// reusedWords says how many calls were on connections of the pool's.
func reusedWords(t probes.BurstSum) string {
	if t.Reused == 0 {
		return ", each on a connection of its own"
	}
	return fmt.Sprintf(", %d of them on reused connections, which had been idle for up to %s", t.Reused, human(t.Idle))
}

// drewDead says how many calls of a burst drew dead connections, and of all where there
// were more.
func drewDead(sums []probes.BurstSum, burst int, closed bool) string {
	var this probes.BurstSum
	others := 0
	for _, s := range sums {
		if s.Burst == burst {
			this = s
		} else if s.Dead > 0 {
			others++
		}
	}
	what := "a dead connection"
	if closed {
		what = "a connection that the path had closed"
	}
	text := fmt.Sprintf("%d of %s of burst %d drew %s (after %s idle)", this.Dead, countOf(this.Calls, "call"), burst, what, deadAfter(this))
	if others > 0 {
		total := probes.Total(sums)
		text += fmt.Sprintf(", %d of %d in all bursts", total.Dead, total.Calls)
	}
	return text
}

// deadAfter is for how long dead connections had been idle.
func deadAfter(s probes.BurstSum) string {
	if least, most := human(s.DeadIdle), human(s.DeadMost); least != most {
		return least + " to " + most
	}
	return human(s.DeadIdle)
}

// callOf is the call that decides; the zero value: none of those that were seen.
func (j *judgement) callOf(seen probes.BurstSeen) probes.BurstCall {
	number := 0 // of an attempt that decides as a control, its call is meant
	switch {
	case j.rung.reuse != nil:
		number = j.rung.reuse.Number
	case j.at != nil:
		number = j.at.Number
	}
	for _, c := range seen.Calls {
		if c.Attempt >= 0 && c.Attempt < len(j.l.in.whole) && j.l.in.whole[c.Attempt].Number == number {
			return c
		}
	}
	return probes.BurstCall{}
}

func (j *judgement) burstOf(seen probes.BurstSeen) int { return j.callOf(seen).Burst }

// orderWords is a pool's order as people write it.
func orderWords(o probes.PoolOrder) string {
	switch o {
	case probes.PoolLIFO, probes.PoolFIFO:
		return strings.ToUpper(string(o))
	case probes.PoolOldest:
		return "oldest first"
	}
	return "LIFO"
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
