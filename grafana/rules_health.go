package grafana

import (
	"fmt"
	"slices"
	"time"
)

// HealthRules are about perch itself: they fire when it is blind or mute. They
// are on by default.
func HealthRules(o RuleOptions) RuleFile {
	return RuleFile{Groups: []RuleGroup{
		{Name: "perch-cronjob", Interval: o.span(time.Minute), Rules: o.cronJobRules()},
		{Name: "perch-serve", Interval: o.span(time.Minute), Rules: o.serveRules()},
		{Name: "perch-runs", Interval: o.span(time.Minute), Rules: slices.Concat(
			o.runsRules(), o.problems(),
			[]Rule{o.incomplete(), o.noticesPending(), o.delayed(), o.budgetWaits()})},
	}}
}

// thisPerch names a perch in a text.
const thisPerch = "perch {{ $labels.perch }} at {{ $labels.vantage }}"

func (o RuleOptions) incomplete() Rule {
	return o.alert("PerchRunsIncomplete", o.risen(`perch_runs_total{verdict="incomplete"}`)+" >= 3", 0, told{
		severity: severityTicket,
		summary:  thisPerch + ": {{ $value }} of the last 7 runs could not judge everything",
		description: "Runs of " + thisPerch + " were cut short (by --deadline or a signal), or it was held up itself. What was not judged is neither a " +
			"pass nor an outage: incidents do not open and do not resolve by it.",
	})
}

// problems are what perch could not do of its own, a rule for each part that
// somebody else mends. One bad run fires none of them.
func (o RuleOptions) problems() []Rule {
	part := func(name, part, summary, description string) Rule {
		return o.alert(name, o.risen(fmt.Sprintf("perch_problems_total{part=%q}", part))+" >= 2", 0, told{
			severity: severityTicket, summary: thisPerch + ": " + summary, description: description,
		})
	}
	return []Rule{
		part("PerchStateTrouble", "state", "trouble with the state in {{ $value }} of the last 7 runs",
			"What "+thisPerch+" remembers between runs could not be read, saved or kept, in part or whole: incidents may open anew, counters begin at zero, "+
				"the day's budget be counted wrongly."),
		part("PerchPushTrouble", "push", "metrics could not be handed over in {{ $value }} of the last 7 runs",
			"The Pushgateway or the text file did not take the metrics of "+thisPerch+". Its notices go out all the same; dashboards and rules see old values."),
		part("PerchInternalError", "internal", "a bug met in {{ $value }} of the last 7 runs",
			"Something happened that "+thisPerch+" does not understand. It judged nothing of it; its log and report say what it was."),
	}
}

// noticesPending: a run tries again what could not be delivered, so what waits
// for an hour has been refused more than once, or is for a schedule to try. The
// oldest is absent when none waits.
func (o RuleOptions) noticesPending() Rule {
	expr := fmt.Sprintf(`(time() - max by (%[1]s, destination) (perch_notices_oldest_pending_timestamp_seconds)) > %[2]s
%[3]s`, perchLabels, o.number(time.Hour), o.alive())
	return o.alert("PerchNoticesPending", expr, 15*time.Minute, told{
		severity: severityTicket,
		summary:  thisPerch + ": notices have waited for {{ $labels.destination }} for {{ $value | humanizeDuration }}",
		description: "{{ $labels.destination }} does not take the notices of " + thisPerch + ", and people do not hear what it found. " +
			"Nothing is lost: notices wait in the state, and each run tries again.",
	})
}

// delayed: perch takes 50 ms and more for an explanation of a failure, and then
// judges nothing. Of its classic buckets the nearest ends at 100 ms.
func (o RuleOptions) delayed() Rule {
	hour := o.span(time.Hour)
	expr := fmt.Sprintf(`1 - (
  sum by (%[1]s) (increase(perch_scheduling_delay_seconds_bucket{le="0.1"}[%[2]s]))
  / sum by (%[1]s) (increase(perch_scheduling_delay_seconds_count[%[2]s]))
) > 0.05`, perchLabels, hour)
	return o.alert("PerchDelayed", expr, 30*time.Minute, told{
		severity: severityTicket,
		summary:  thisPerch + " woke more than 100 ms late {{ $value | humanizePercentage }} of the time",
		description: "The pod or node of " + thisPerch + " was too busy in the last hour: it was not woken when it should be. Failures that fall into " +
			"such a stall are judged incomplete (own_pod), and latencies that it reports may be its own.",
	})
}

func (o RuleOptions) budgetWaits() Rule {
	series := fmt.Sprintf("max by (%s, target) (perch_budget_wait_seconds_total)", perchLabels)
	expr := fmt.Sprintf("%s\n- min_over_time(%s)\n> 1", series, o.within(series))
	return o.alert("PerchBudgetWaits", expr, 0, told{
		severity: severityTicket,
		summary:  thisPerch + ": requests to {{ $labels.target }} waited {{ $value | humanizeDuration }} for the budget in the last 7 runs",
		description: "Requests of " + thisPerch + " to {{ $labels.target }} waited for the budget. Its plan books every request so that none has to. " +
			"One that waits is sent late, so what was measured is off by that much: holds are longer than the config says.",
	})
}
