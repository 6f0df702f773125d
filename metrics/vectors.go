package metrics

import (
	"cmp"
	"slices"
)

// vectors are all series of perch. Dashboards hold on to them: a name never
// changes its type. Those without labels of their own are vectors too, so that
// they can be absent.
type vectors struct {
	success, lastRun, interval     *vector
	outcomes, attempts             *vector
	attemptDuration, phaseDuration *vector
	retries                        *vector

	holds                                               *vector
	idleTimeout, idleSurvived, idleDied, idleAdvertised *vector
	keepAlive, dangerBand                               *vector
	burstCalls, predictedDead, predictedFailed          *vector
	finding, retryGap, incidentOpen                     *vector

	certificateExpiry *vector
	requests          *vector
	budgetLimit       *vector
	budgetWait        *vector

	runs                         *vector
	runDuration, runCompleted    *vector
	schedulingDelay              *vector
	notices                      *vector
	noticesPending, noticeOldest *vector
	problems                     *vector
	buildInfo                    *vector

	leader, reloadSuccessful, reloadedAt, ticksMissed *vector // of perch serve alone

	// Under the names of blackbox_exporter, for its dashboards.
	blackboxSuccess, blackboxDuration, blackboxPhase *vector
}

// all returns every vector, by name.
func (v vectors) all() []*vector {
	all := []*vector{
		v.success, v.lastRun, v.interval, v.outcomes, v.attempts, v.attemptDuration, v.phaseDuration, v.retries,
		v.holds, v.idleTimeout, v.idleSurvived, v.idleDied, v.idleAdvertised, v.keepAlive, v.dangerBand,
		v.burstCalls, v.predictedDead, v.predictedFailed,
		v.finding, v.retryGap, v.incidentOpen,
		v.certificateExpiry, v.requests, v.budgetLimit, v.budgetWait,
		v.runs, v.runDuration, v.runCompleted, v.schedulingDelay,
		v.notices, v.noticesPending, v.noticeOldest, v.problems, v.buildInfo,
		v.leader, v.reloadSuccessful, v.reloadedAt, v.ticksMissed,
		v.blackboxSuccess, v.blackboxDuration, v.blackboxPhase,
	}
	slices.SortFunc(all, func(a, b *vector) int { return cmp.Compare(a.name, b.name) })
	return all
}

func newVectors() vectors {
	var v vectors
	v.addProbe()
	v.addIdle()
	v.addTarget()
	v.addOwn()
	v.addServing()
	v.addBlackbox()
	return v
}

func (v *vectors) addProbe() {
	v.success = lasting("perch_probe_success",
		"0 if an outcome of the probe's last run is a fail, else 1 if one is a pass or degraded.", "target", "probe")
	v.lastRun = lasting("perch_probe_last_run_timestamp_seconds",
		"When the run ended in which the probe last sent a request.", "target", "probe")
	v.interval = gauge("perch_probe_interval_seconds",
		"How often the probe is to run.", "target", "probe")
	v.outcomes = counter("perch_outcomes_total",
		"Outcomes by verdict: one a rung of an idle probe, else one a run.", "target", "probe", "verdict")
	v.attempts = counter("perch_attempts_total",
		"Requests by connection and by what the wire showed.", "target", "probe", "connection", "reason")
	v.attemptDuration = histogramOf(attemptBuckets(), "perch_attempt_duration_seconds",
		"From the first request byte to the answer's last, answered attempts only.", "target", "probe", "connection")
	v.phaseDuration = histogramOf(phaseBuckets(), "perch_phase_duration_seconds",
		"How long each phase of an attempt took that ran.", "target", "probe", "phase")
	v.retries = counter("perch_retries_total",
		"Second tries (or controls) on a fresh connection, by how they ended.", "target", "probe", "result")
	v.finding = lasting("perch_finding",
		"1 while the probe's last judged run has this diagnosis, else 0.", "target", "probe", "diagnosis")
	v.finding.memory = nonzero // where success is known, the other diagnoses were not found
	v.retryGap = lasting("perch_retry_gap",
		"1 if the declared retry policy misses what the application's client makes of this reason, else 0.",
		"target", "probe", "client", "reason")
}

func (v *vectors) addIdle() {
	v.holds = counter("perch_holds_total",
		"Connections held idle and then reused, by what became of them.", "target", "probe", "hold_seconds", "result")
	v.idleTimeout = lasting("perch_idle_timeout_seconds",
		"Idle age at which the path was last seen to close a connection.", "target", "probe")
	v.idleSurvived = lasting("perch_idle_survived_seconds",
		"Longest idle age at which reuse last worked; of an end that nobody sees, the longest known of all runs.", "target", "probe")
	v.idleDied = lasting("perch_idle_died_seconds",
		"Shortest idle age at which reuse last failed; of an end that nobody sees, the shortest known of all runs.", "target", "probe")
	v.idleAdvertised = lasting("perch_idle_advertised_seconds",
		"Idle timeout that the answer's Keep-Alive header promises.", "target", "probe")
	v.keepAlive = gauge("perch_keep_alive_expected_seconds",
		"Idle age that the config expects the path to honour.", "target", "probe")
	v.dangerBand = lasting("perch_client_danger_band_seconds",
		"Idle ages at which the application's client would use a connection that the path has closed; no upper bound: without end.",
		"target", "probe", "bound")
	v.burstCalls = counter("perch_burst_calls_total",
		"Calls of bursts, by what became of them.", "target", "probe", "result")
	v.predictedDead = lasting("perch_predicted_dead_share",
		"Share of the application's calls that are given a connection which the path has closed, as predicted last.", "target", "probe", "calls")
	v.predictedFailed = lasting("perch_predicted_failed_share",
		"Share of the application's calls that fail for that, in spite of its client's retries and its own.", "target", "probe", "calls")
}

func (v *vectors) addTarget() {
	v.incidentOpen = gauge("perch_incident_open",
		"1 while an incident of this family is open, else 0.", "target", "family")
	v.certificateExpiry = lasting("perch_tls_certificate_expiry_timestamp_seconds",
		"When a certificate that the target's chain needs expires first, its own or one that it is signed with; the earliest seen in the last run.", "target")
	v.requests = counter("perch_requests_total",
		"Requests that left, of every kind.", "target")
	v.budgetLimit = gauge("perch_budget_limit_requests_per_second",
		"Rate that perch may use: the API's limit times perch's share.", "target")
	v.budgetWait = counter("perch_budget_wait_seconds_total",
		"Time that requests waited at the last gate; the plan makes it 0.", "target")
}

func (v *vectors) addOwn() {
	v.runs = counter("perch_runs_total", "Runs by verdict.", "verdict")
	v.runDuration = lasting("perch_run_duration_seconds", "How long the last run took.")
	v.runCompleted = lasting("perch_run_last_completed_timestamp_seconds",
		"When the last run ended that was not cut short.")
	v.schedulingDelay = histogramOf(delayBuckets(), "perch_scheduling_delay_seconds",
		"How late perch itself woke: its own stalls.")
	v.notices = counter("perch_notices_total", "Notices by how their delivery ended.", "destination", "result")
	v.noticesPending = gauge("perch_notices_pending", "Notices that wait to be delivered.", "destination")
	v.noticeOldest = gauge("perch_notices_oldest_pending_timestamp_seconds",
		"When the oldest of the notices that wait was made.", "destination")
	v.problems = counter("perch_problems_total", "What perch itself could not do, by part.", "part")
	v.buildInfo = gauge("perch_build_info", "1; the labels say which perch this is.", "version", "goversion", "revision")
}

func (v *vectors) addServing() {
	v.leader = gauge("perch_leader",
		"1 if this replica of perch serve is the one that probes, 0 if it stands by.")
	v.reloadSuccessful = gauge("perch_config_last_reload_successful",
		"1 if perch serve took its config in when it last read it, 0 if that was refused and the one before it stays.")
	v.reloadedAt = gauge("perch_config_last_reload_success_timestamp_seconds",
		"When perch serve last took its config in.")
	v.ticksMissed = counter("perch_ticks_missed_total",
		"Ticks of a probe that fell out: its last wave was not over by then, or perch itself was late.", "target", "probe")
}

func (v *vectors) addBlackbox() {
	v.blackboxSuccess = lasting("probe_success",
		"Whether the probe was a success: perch_probe_success under blackbox_exporter's name.", "target", "probe")
	v.blackboxDuration = lasting("probe_duration_seconds",
		"How long the last fresh connection and its request took.", "target", "probe")
	v.blackboxPhase = lasting("probe_http_duration_seconds",
		"How long each phase took of the last fresh connection and its request.", "target", "probe", "phase")
}

// The classic buckets, in seconds. Each is a series for every probe, so there
// are few: the answer of an API in detail, its phases by order of magnitude.

func attemptBuckets() []float64 { return []float64{.01, .025, .05, .1, .2, .3, .5, 1, 2.5, 5} }

func phaseBuckets() []float64 { return []float64{.01, .1, 1} }

func delayBuckets() []float64 { return []float64{.0001, .001, .01, .1, 1} }
