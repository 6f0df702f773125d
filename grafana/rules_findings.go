package grafana

import (
	"fmt"
	"time"
)

// FindingRules are about the APIs. They are shipped off: perch tells its
// incidents itself. They are for teams that route everything by Alertmanager.
func FindingRules(o RuleOptions) RuleFile {
	return RuleFile{Groups: []RuleGroup{
		{Name: "perch-probes", Interval: o.span(time.Minute), Rules: o.failingRules()},
		{Name: "perch-findings", Interval: o.span(time.Minute), Rules: []Rule{
			o.silentDrop(), o.staleConnections(), o.reuseFails(), o.rateLimited(),
			o.keepAliveShort(), o.certificate("PerchCertificateSoon", 7, 21, severityTicket),
			o.certificate("PerchCertificateNow", -1, 7, severityPage), o.retryGap(),
		}},
	}}
}

const thisProbe = "{{ $labels.target }}/{{ $labels.probe }}"

const seenBy = " (seen by " + thisPerch + ")"

// The series of failingRules. judgedTotal rises with each run of a probe that was
// judged, by one or, for an idle probe, by its rungs; failedTotal is the same
// where that run was a failure. So each run has a number of its own, whatever
// the schedule, a run that was cut short has none, and the third last failed run
// is found by looking for a lower number twice.
const (
	judgedTotal = "perch:probe_judged:total"
	failedTotal = "perch:probe_failed:total"
	failedLast1 = "perch:probe_failed:last1"
	failedLast2 = "perch:probe_failed:last2"
	failedLast3 = "perch:probe_failed:last3"
)

func (o RuleOptions) failingRules() []Rule {
	day, step := o.span(ruleMemory), o.span(ruleStep)
	before := func(known string) string {
		return fmt.Sprintf("max_over_time((%s < %s @ end())[%s:%s])", failedTotal, known, day, step)
	}
	return []Rule{
		{Record: judgedTotal, Expr: fmt.Sprintf(`sum by (%s) (max by (%s, verdict) (perch_outcomes_total{verdict=~"pass|degraded|fail"}))`, probeLabels, probeLabels)},
		{Record: failedTotal, Expr: fmt.Sprintf("%s and max by (%s) (perch_probe_success) == 0", judgedTotal, probeLabels)},
		{Record: failedLast1, Expr: fmt.Sprintf("max_over_time(%s[%s])", failedTotal, day)},
		{Record: failedLast2, Expr: before(failedLast1)},
		{Record: failedLast3, Expr: before(failedLast2)},
		o.probeFailing(day, step),
	}
}

// probeFailing fires when at most 7 judged runs reach back to the third last
// failed one, that one included. A state that was lost begins to count anew: for
// the day after it numbers of two lives lie beside each other, and nothing is
// said.
func (o RuleOptions) probeFailing(day, step string) Rule {
	expr := fmt.Sprintf(`1 + changes((%[1]s >= %[2]s @ end())[%[3]s:%[4]s]) <= %[5]d
unless resets(%[1]s[%[3]s]) > 0`, judgedTotal, failedLast3, day, step, judgedRuns)
	return o.alert("PerchProbeFailing", expr, 0, told{
		severity: severityPage,
		summary:  thisProbe + " failed in 3 of its last {{ $value }} runs" + seenBy,
		description: "Probe " + thisProbe + " failed again and again, and what the application does the same way fails the same way. perch's own notice " +
			"and its report have the diagnosis, the evidence and what to change.",
	})
}

// found is a diagnosis within an open incident: perch itself has decided that it
// failed in enough runs and is not accepted. An hour's memory holds it over
// a good run in the middle of an incident, and over a Pushgateway that forgot.
func (o RuleOptions) found(diagnoses, family string) string {
	hour := o.span(time.Hour)
	return fmt.Sprintf(`max by (%[1]s, diagnosis) (max_over_time(perch_finding{diagnosis=~%[2]q}[%[3]s])) == 1
and on (%[1]s) min by (%[1]s) (min_over_time(perch_probe_success[%[3]s])) == 0
and on (%[4]s, target) max by (%[4]s, target) (last_over_time(perch_incident_open{family=%[5]q}[%[3]s])) == 1
%[6]s`, probeLabels, diagnoses, hour, perchLabels, family, o.alive())
}

func (o RuleOptions) silentDrop() Rule {
	return o.alert("PerchSilentDrop", o.found("silent_drop", "connection"), 0, told{
		severity: severityTicket,
		summary:  thisProbe + ": the path forgets idle connections without a word" + seenBy,
		description: "A NAT, firewall or load balancer on the path to {{ $labels.target }} drops idle connections and tells neither side. A pool that hands " +
			"one out waits until its timeout; no validation before use can see it. Set TCP keep-alive, or the pool's idle limit, below the age at which it happens.",
	})
}

func (o RuleOptions) staleConnections() Rule {
	return o.alert("PerchStaleConnections", o.found("early_close|stale_connection", "connection"), 0, told{
		severity: severityTicket,
		summary:  thisProbe + ": idle connections end before the client expects it ({{ $labels.diagnosis }})" + seenBy,
		description: "The other side ends idle connections to {{ $labels.target }} earlier than the config's keep_alive, and a fresh one works at once. A pool " +
			"that keeps them longer hands out dead ones: single calls fail, fast, after quiet times. Set the client's idle limit below the measured timeout.",
	})
}

func (o RuleOptions) reuseFails() Rule {
	return o.alert("PerchReuseFails", o.found("stalled|proxy_stale|undeclared_close", "connection"), 0, told{
		severity: severityTicket,
		summary:  thisProbe + ": reused connections fail where fresh ones work ({{ $labels.diagnosis }})" + seenBy,
		description: "Reused connections to {{ $labels.target }} fail, and not by their idle age alone: an answer that never comes, a proxy with a dead " +
			"connection of its own, or closes that no answer announced. Retry what is idempotent on a fresh connection, and tell whoever owns the API or the proxy.",
	})
}

func (o RuleOptions) rateLimited() Rule {
	return o.alert("PerchRateLimited", o.found("rate_limited", "limits"), 0, told{
		severity: severityTicket,
		summary:  thisProbe + " answers 429: too many requests" + seenBy,
		description: "The whole service, perch included, calls {{ $labels.target }} more often than that API allows. perch keeps to its share and obeys " +
			"Retry-After; look at who uses the rest.",
	})
}

// keepAliveShort compares with the tolerance of perch's own judgement: 5%, at
// least 100 ms, at most 1 s. A reload of the server closes connections of
// every age at once: that measures nothing.
func (o RuleOptions) keepAliveShort() Rule {
	expr := fmt.Sprintf(`max by (%[1]s) (perch_idle_timeout_seconds)
< max by (%[1]s) (perch_keep_alive_expected_seconds - clamp(0.05 * perch_keep_alive_expected_seconds, 0.1, 1))
unless on (%[1]s) max by (%[1]s) (perch_finding{diagnosis=~"mass_close|undeclared_close"}) == 1
%[2]s`, probeLabels, o.alive())
	return o.alert("PerchKeepAliveShort", expr, time.Hour, told{
		severity: severityTicket,
		summary:  thisProbe + ": the path keeps idle connections for {{ $value | humanizeDuration }} only" + seenBy,
		description: "For an hour the idle timeout that " + thisProbe + " measures has been below the config's keep_alive: {{ $value | humanizeDuration }}. " +
			"Correct keep_alive, if it was only expected, and set the client's idle limit below what was measured.",
	})
}

// certificate fires within (above, days] days of the end, as perch judges it;
// above -1 also when it is over.
func (o RuleOptions) certificate(name string, above, days int, severity string) Rule {
	const left = "(min by (" + perchLabels + ", target) (perch_tls_certificate_expiry_timestamp_seconds) - time())"
	expr := fmt.Sprintf("%s <= %d * 86400", left, days)
	if above >= 0 {
		expr = fmt.Sprintf("%s > %d * 86400 <= %d * 86400", left, above, days)
	}
	return o.alert(name, expr+"\n"+o.alive(), time.Hour, told{
		severity: severity,
		summary:  "The certificate of {{ $labels.target }} has {{ $value | humanizeDuration }} left" + seenBy,
		description: fmt.Sprintf("The certificate of {{ $labels.target }} has at most %d days left. When it has expired, every client that verifies it "+
			"fails at once. Renew it, and see why that did not happen by itself.", days),
	})
}

// retryGap is one alert for a target and its client: a policy is a target's, and
// each of its probes knows all of its gaps. Of these only such count as a probe
// of the target can meet: a counter of attempts is there from the start for each
// reason that its kind and protocol can end in.
func (o RuleOptions) retryGap() Rule {
	const kept = perchLabels + ", target, client"
	expr := fmt.Sprintf(`count by (%[1]s) (
  max by (%[1]s, reason) (perch_retry_gap) == 1
  and on (%[2]s, target, reason) perch_attempts_total
)
%[3]s`, kept, perchLabels, o.alive())
	return o.alert("PerchRetryGap", expr, time.Hour, told{
		severity: severityInfo,
		summary: "{{ $labels.target }}: the retry policy of {{ $labels.client }} leaves {{ $value }} " +
			`{{ if eq $value 1.0 }}failure{{ else }}kinds of failure{{ end }} uncovered` + seenBy,
		description: "Nothing has failed. If the path to {{ $labels.target }} fails with one of these, the application gets the error at once, though " +
			"a second try on a fresh connection would be safe: " + gapReasons() + ". `perch audit` says what to add.",
	})
}

// gapReasons is a template that lists the reasons of a retryGap: an alert carries
// one number, and no list.
func gapReasons() string {
	const query = `group by (reason) (perch_retry_gap{perch=%[1]q, vantage=%[2]q, shard=%[3]q, target=%[4]q, client=%[5]q} == 1 ` +
		`and on (reason) perch_attempts_total{perch=%[1]q, vantage=%[2]q, shard=%[3]q, target=%[4]q})`
	return "{{ range $i, $gap := printf `" + query + "` $labels.perch $labels.vantage $labels.shard $labels.target $labels.client " +
		"| query | sortByLabel `reason` }}{{ if $i }}, {{ end }}{{ $gap.Labels.reason }}{{ end }}"
}
