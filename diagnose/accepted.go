package diagnose

import (
	"time"

	"perch.example/probes"
)

// accepted returns what accepts a fail today, or what would have done so, had
// its time not ended; nil for neither. The verdict stays what it is: accepting
// is about who is told, not about what was seen.
func (j *judgement) accepted() (now, lapsed *probes.Accepted) {
	if j.verdict != probes.VerdictFail {
		return nil, nil
	}
	age := j.acceptedAge()
	for _, a := range j.l.in.Spec.Accepted {
		switch {
		case !a.Covers(j.rule.Diagnosis, age):
		case j.l.in.Now.Before(a.Until):
			return &a, nil
		case lapsed == nil || a.Until.After(lapsed.Until):
			lapsed = &a
		}
	}
	return nil, lapsed
}

// acceptedAge is the idle age that an acceptance speaks of: the close's where
// one was seen, else the reuse's. 0: the fail is not about an idle connection.
func (j *judgement) acceptedAge() time.Duration {
	if !held(j.rung.obs.Kind) || !j.reused() {
		return 0
	}
	return j.rung.age()
}
