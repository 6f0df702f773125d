package grafana

import (
	"fmt"
	"time"
)

// Whether a CronJob's runs end well is asked of the cluster, by
// kube-state-metrics: a restarted Pushgateway forgets what was pushed, and
// keeps for good what is of a perch that is gone.

// cronInterval is the time between two runs that a CronJob's schedule asks for.
// kube-state-metrics counts the next from the last, so that a controller that
// stands still does not change it; suspended CronJobs have none. One that was
// never scheduled has the time to its first.
const cronInterval = "perch:cronjob_interval:seconds"

func (o RuleOptions) cronJobRules() []Rule {
	return []Rule{o.intervalRule(), o.noCompletedRun(), o.jobsFailing()}
}

func (o RuleOptions) intervalRule() Rule {
	return Rule{Record: cronInterval, Expr: fmt.Sprintf(`max by (namespace, cronjob) (
  kube_cronjob_next_schedule_time{cronjob=~%[1]q} - kube_cronjob_status_last_schedule_time{cronjob=~%[1]q}
  or
  kube_cronjob_next_schedule_time{cronjob=~%[1]q} - kube_cronjob_created{cronjob=~%[1]q}
)`, o.cronJobs())}
}

// noCompletedRun: three intervals are two missed runs and the third's own time.
// A CronJob that never succeeded is measured from its creation, one that was
// suspended from its resumption.
func (o RuleOptions) noCompletedRun() Rule {
	expr := fmt.Sprintf(`max by (namespace, cronjob) (
  time() - kube_cronjob_status_last_successful_time{cronjob=~%[1]q}
  or
  time() - kube_cronjob_created{cronjob=~%[1]q}
)
> on (namespace, cronjob) 3 * %[2]s
unless on (namespace, cronjob)
  (time() - max by (namespace, cronjob) (max_over_time(timestamp(kube_cronjob_spec_suspend{cronjob=~%[1]q} == 1)[%[3]s:%[4]s])))
  < on (namespace, cronjob) 3 * %[2]s`, o.cronJobs(), cronInterval, o.span(72*time.Hour), o.span(15*time.Minute))
	return o.alert("PerchNoCompletedRun", expr, 15*time.Minute, told{
		severity: severityTicket,
		summary:  "CronJob {{ $labels.namespace }}/{{ $labels.cronjob }} has completed no run for {{ $value | humanizeDuration }}",
		description: "CronJob {{ $labels.namespace }}/{{ $labels.cronjob }} has completed no run for more than three of its intervals (counted " +
			"from its creation, if none ever did). This perch sees and tells nothing meanwhile: no notice is no good news.",
	})
}

// jobsFailing: now and then is not never. Three failed Jobs are what a CronJob
// keeps.
func (o RuleOptions) jobsFailing() Rule {
	expr := fmt.Sprintf(`count by (namespace, cronjob) (
  (
    time() - max by (namespace, job_name) (kube_job_status_start_time)
      * on (namespace, job_name) group_left (cronjob) (
        max by (namespace, job_name, cronjob) (
          label_replace(kube_job_owner{owner_kind="CronJob", owner_name=~%q}, "cronjob", "$1", "owner_name", "(.+)")
        )
        and on (namespace, job_name) kube_job_failed{condition="true"} == 1
      )
  )
  < on (namespace, cronjob) group_left 9 * %s
) >= 3`, o.cronJobs(), cronInterval)
	return o.alert("PerchJobsFailing", expr, 0, told{
		severity: severityTicket,
		summary:  "{{ $value }} of the last 9 runs of CronJob {{ $labels.namespace }}/{{ $labels.cronjob }} failed",
		description: "Jobs of CronJob {{ $labels.namespace }}/{{ $labels.cronjob }} fail. The shipped manifests run with --fail-on=never: a failed " +
			"Job is perch's own fault (its config, a secret, its state, a push, a notice, or its time), never the API's.",
	})
}

// serveRules are about `perch serve`, which is scraped. What was pushed carries
// no instance.
func (o RuleOptions) serveRules() []Rule {
	served := fmt.Sprintf("job=~%q, instance!=\"\"", o.jobs())
	return []Rule{
		o.alert("PerchScrapeFailing", fmt.Sprintf("up{job=~%q} == 0", o.jobs()), 10*time.Minute, told{
			severity: severityTicket,
			summary:  "perch at {{ $labels.instance }} cannot be scraped",
			description: "The scrape job {{ $labels.job }} gets no answer from /metrics of {{ $labels.instance }}: perch serve does not run there, or a " +
				"NetworkPolicy keeps Prometheus out.",
		}),
		o.gone(served), o.stalled(served), o.reloadFailed(),
	}
}

// gone counts vantages: a perch that moved to another is not gone.
func (o RuleOptions) gone(served string) Rule {
	now := fmt.Sprintf("count by (perch) (group by (perch, vantage) (perch_build_info{%s}))", served)
	before := fmt.Sprintf("count by (perch) (group by (perch, vantage) (perch_build_info{%s} offset %s))", served, o.span(time.Hour))
	expr := fmt.Sprintf("(%s\n  - on (perch) (%s or on (perch) 0 * %s)) > 0", before, now, before)
	return o.alert("PerchGone", expr, 15*time.Minute, told{
		severity: severityTicket,
		summary:  "perch {{ $labels.perch }} is scraped at {{ $value }} vantages fewer than an hour ago",
		description: "Series of perch {{ $labels.perch }} ended, and no scrape says that it is down: its Deployment was scaled to zero or removed, or " +
			"its PodMonitor was. If that was meant, this alert ends by itself within the hour.",
	})
}

// stalled: serve completes a run each time that a probe was due. One that
// never completed any gets an hour for its first.
func (o RuleOptions) stalled(served string) Rule {
	expr := fmt.Sprintf(`(time() - max by (%[1]s) (perch_run_last_completed_timestamp_seconds{%[2]s}))
> on (%[1]s) clamp_min(
  3 * min by (%[1]s) (perch_probe_interval_seconds{%[2]s})
  or 0 * max by (%[1]s) (perch_build_info{%[2]s}),
%[3]s)
or
%[4]s * (max by (%[1]s) (perch_build_info{%[2]s} offset %[5]s)
  unless on (%[1]s) max by (%[1]s) (perch_run_last_completed_timestamp_seconds{%[2]s}))`,
		perchLabels, served, o.number(15*time.Minute), o.number(time.Hour), o.span(time.Hour))
	return o.alert("PerchServeStalled", expr, 15*time.Minute, told{
		severity: severityTicket,
		summary:  thisPerch + " runs, but has completed no run for {{ $value | humanizeDuration }} or more",
		description: thisPerch + " answers scrapes, and its shortest interval has passed three times without a run that ended as it should: " +
			"it hangs, or each run is cut short.",
	})
}

// reloadFailed: a kubelet brings a changed ConfigMap to each Pod in its own time,
// and each reads it within seconds; what is refused for five minutes is no half
// written file. Two replicas refuse the same one, and are one perch.
func (o RuleOptions) reloadFailed() Rule {
	expr := fmt.Sprintf("min by (%s) (perch_config_last_reload_successful) == 0", perchLabels)
	return o.alert("PerchConfigReloadFailed", expr, 5*time.Minute, told{
		severity: severityTicket,
		summary:  thisPerch + " refuses its changed config, and goes on with the one before it",
		description: "The config of " + thisPerch + " was changed and cannot be used. What ran before it runs on: what was meant to be probed since " +
			"then is not, and a restart would not come up. The log says each mistake with its line.",
	})
}
