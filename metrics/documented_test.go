package metrics

import (
	"flag"
	"testing"
)

func updating(t *testing.T) bool {
	t.Helper()
	return flag.Lookup("update").Value.String() == "true"
}

// documented says of each metric what its own description does not.
func documented() map[string]told {
	const (
		seconds = "in seconds"
		moment  = "a moment in seconds since 1970"
		never   = "never"
		notIdle = "of a probe that is neither of kind `idle` nor `burst`, and until a run measured it"
		noState = "without `state`"
		noShare = "without a declared client; of a probe that is neither of kind `burst` nor has `calls`, and until a run predicted it"
		ofServe = "in `perch run`"
	)
	return map[string]told{
		"perch_probe_success": {"0 or 1", "until a run of the probe was judged; one that was left out or cut short leaves it as it was",
			"min by (perch, vantage, target, probe) (perch_probe_success) == 0"},
		"perch_probe_last_run_timestamp_seconds": {moment, "until the probe sent a request", "time() - perch_probe_last_run_timestamp_seconds"},
		"perch_probe_interval_seconds":           {seconds, "with `every: always`: the CronJob's schedule decides", "time() - perch_probe_last_run_timestamp_seconds > 3 * perch_probe_interval_seconds"},
		"perch_outcomes_total":                   {"a count", never, `sum by (target, probe) (increase(perch_outcomes_total{verdict="fail"}[1h]))`},
		"perch_attempts_total": {"a count", "a reason that the probe's kind and protocol cannot end in (TLS over `http://`, `idle_*` on a fresh connection)",
			`sum by (target, reason) (increase(perch_attempts_total{connection="reused", reason!="ok"}[1h])) > 0`},
		"perch_attempt_duration_seconds": {seconds, "never; without an answer nothing is observed",
			"histogram_quantile(0.99, sum by (target, connection, le) (rate(perch_attempt_duration_seconds_bucket[1h])))"},
		"perch_phase_duration_seconds": {seconds, "a phase that the probe has not: `dns` of an address, `tls` over `http://`",
			"sum by (target, phase) (rate(perch_phase_duration_seconds_sum[1h])) / sum by (target, phase) (rate(perch_phase_duration_seconds_count[1h]))"},
		"perch_retries_total": {"a count", "of a probe without `retry`, unless it is of kind `idle` or `burst`, whose controls count",
			`sum by (target) (increase(perch_retries_total{result="recovered"}[1d]))`},
		"perch_holds_total": {"a count", "of a probe that is not of kind `idle`",
			`sum by (target, hold_seconds) (increase(perch_holds_total{result!="survived"}[1d])) / sum by (target, hold_seconds) (increase(perch_holds_total[1d]))`},
		"perch_idle_timeout_seconds":        {seconds, notIdle + "; when a later ladder saw no close", "perch_idle_timeout_seconds < perch_keep_alive_expected_seconds"},
		"perch_idle_survived_seconds":       {seconds, notIdle, "perch_idle_survived_seconds"},
		"perch_idle_died_seconds":           {seconds, notIdle + "; when every rung of a later ladder worked", "perch_idle_died_seconds"},
		"perch_idle_advertised_seconds":     {seconds, notIdle + "; when no answer carries `Keep-Alive: timeout=`", "perch_idle_advertised_seconds - perch_idle_timeout_seconds"},
		"perch_keep_alive_expected_seconds": {seconds, "without `keep_alive`", "perch_idle_timeout_seconds / perch_keep_alive_expected_seconds"},
		"perch_client_danger_band_seconds": {seconds, "without a declared client, and when it has no such band; `to` also when the band has no end",
			`perch_client_danger_band_seconds{bound="from"}`},
		"perch_burst_calls_total": {"a count", "of a probe that is not of kind `burst`",
			`sum by (target, probe) (increase(perch_burst_calls_total{result="dead"}[1d])) / sum by (target, probe) (increase(perch_burst_calls_total[1d]))`},
		"perch_predicted_dead_share":   {"0 to 1", noShare, "max by (target, probe) (perch_predicted_dead_share) > 0.01"},
		"perch_predicted_failed_share": {"0 to 1", noShare, "max by (target, probe) (perch_predicted_failed_share) > 0"},
		"perch_finding":                {"0 or 1", "until a run of the probe was judged; a diagnosis that its kind cannot have", `perch_finding{diagnosis="silent_drop"} == 1`},
		"perch_retry_gap":              {"0 or 1", "without a declared client and its retry policy", "count by (target, client) (perch_retry_gap == 1)"},
		"perch_incident_open": {"0 or 1", noState + ": incidents are then unknown; a family that the target cannot have",
			"max by (perch, target, family) (perch_incident_open) == 1"},
		"perch_tls_certificate_expiry_timestamp_seconds": {moment, "of a target without TLS, and until a handshake worked",
			"(min by (target) (perch_tls_certificate_expiry_timestamp_seconds) - time()) / 86400 < 21"},
		"perch_requests_total": {"a count", never, "sum by (target) (rate(perch_requests_total[1h]))"},
		"perch_budget_limit_requests_per_second": {"requests a second", never,
			"rate(perch_requests_total[1h]) / perch_budget_limit_requests_per_second"},
		"perch_budget_wait_seconds_total": {seconds, never, "increase(perch_budget_wait_seconds_total[1d]) > 0"},
		"perch_runs_total":                {"a count", never, `sum by (perch, vantage) (increase(perch_runs_total{verdict="incomplete"}[1d]))`},
		"perch_run_duration_seconds":      {seconds, "until a run ended", "max by (perch, vantage) (perch_run_duration_seconds)"},
		"perch_run_last_completed_timestamp_seconds": {moment, "until a run ended that was not cut short",
			"time() - max by (perch, vantage) (perch_run_last_completed_timestamp_seconds)"},
		"perch_scheduling_delay_seconds": {seconds, never,
			`1 - sum by (perch) (rate(perch_scheduling_delay_seconds_bucket{le="0.1"}[1h])) / sum by (perch) (rate(perch_scheduling_delay_seconds_count[1h]))`},
		"perch_notices_total":   {"a count", "a destination that the config does not name", `increase(perch_notices_total{result="failed"}[1h]) > 0`},
		"perch_notices_pending": {"a number of notices", noState, "max by (perch, destination) (perch_notices_pending) > 0"},
		"perch_notices_oldest_pending_timestamp_seconds": {moment, "when none waits, and " + noState,
			"time() - max by (perch, destination) (perch_notices_oldest_pending_timestamp_seconds)"},
		"perch_problems_total": {"a count", never, "sum by (perch, part) (increase(perch_problems_total[1d])) > 0"},
		"perch_leader": {"0 or 1", ofServe + ", and without a ConfigMap as `state`",
			"sum by (perch, vantage) (perch_leader) != 1"},
		"perch_config_last_reload_successful": {"0 or 1", ofServe, "min by (perch, vantage) (perch_config_last_reload_successful) == 0"},
		"perch_config_last_reload_success_timestamp_seconds": {moment, ofServe,
			"time() - max by (perch, vantage) (perch_config_last_reload_success_timestamp_seconds)"},
		"perch_ticks_missed_total": {"a count", ofServe,
			"sum by (target, probe) (increase(perch_ticks_missed_total[1h])) > 0"},
		"perch_build_info":            {"always 1", never, "count by (version) (perch_build_info)"},
		"probe_success":               {"0 or 1", "without `metrics.blackbox_names`; else as `perch_probe_success`", "probe_success == 0"},
		"probe_duration_seconds":      {seconds, "without `metrics.blackbox_names`, and until a fresh connection was tried", "probe_duration_seconds"},
		"probe_http_duration_seconds": {seconds, "without `metrics.blackbox_names`; a phase that did not run", "sum by (target, probe) (probe_http_duration_seconds)"},
	}
}
