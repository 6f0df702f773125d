package k8s

import (
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perch.example/probes"
)

// cronJob runs perch at each instant of its schedule; one run at a time, since the
// budget and the state are one run's.
func (b *maker) cronJob() Object {
	s := b.schedule()
	if s.gap == 0 { // refused: there is nothing to measure the run against
		return &batchv1.CronJob{}
	}
	e := b.ends(s)
	b.checkDay(s)
	return &batchv1.CronJob{
		TypeMeta:   meta.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: b.meta(b.o.Name),
		Spec: batchv1.CronJobSpec{
			Schedule:                   s.text,
			TimeZone:                   new("Etc/UTC"),
			ConcurrencyPolicy:          batchv1.ForbidConcurrent,
			StartingDeadlineSeconds:    new(seconds(e.late)), // what could not start in time is left out, not made up for
			SuccessfulJobsHistoryLimit: new(int32(3)),
			FailedJobsHistoryLimit:     new(int32(3)),
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: meta.ObjectMeta{Labels: b.labels()},
				Spec:       b.job(e),
			},
		},
	}
}

// job is one run; with shards, one in each of its Pods.
func (b *maker) job(e ends) batchv1.JobSpec {
	job := batchv1.JobSpec{
		BackoffLimit:            new(int32(0)), // a second try would send the requests again
		ActiveDeadlineSeconds:   new(seconds(e.active)),
		TTLSecondsAfterFinished: new(int32(day / time.Second)),
		Template: b.pod(append([]string{
			"run", "--config=" + configFolder,
			"--fail-on=never", // a failed Job means that perch itself is broken; the API's faults go where alerts go
			"--deadline=" + probes.Spoken(e.deadline),
		}, b.sidecarFlags()...), corev1.RestartPolicyNever),
	}
	if b.o.Kind == KindIndexedJob {
		job.CompletionMode = new(batchv1.IndexedCompletion)
		job.Completions, job.Parallelism = new(int32(b.o.Shards)), new(int32(b.o.Shards))
		// For each shard: a limit for the whole Job would end the others with the first
		// that fails.
		job.BackoffLimit, job.BackoffLimitPerIndex = nil, new(int32(0))
		b.note("a Job of %d shards needs Kubernetes 1.29 or later (backoffLimitPerIndex), so that one that fails does not end the others", b.o.Shards)
	}
	return job
}

func seconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }
