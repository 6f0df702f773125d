package diagnose

import (
	"fmt"

	"perch.example/probes"
)

// What is said of connections that carried nothing before they were held. Whether the
// application's client opens any is not known: nothing that is declared says so.

// unusedPool is the ruling on the pool.
func (j *judgement) unusedPool() (probes.Ruling, string) {
	return probes.RuledOpen, fmt.Sprintf("it ended at %s without having carried a request: a pool meets that only where it opens connections ahead", human(j.rung.age()))
}

// unusedAdvice is for clients that open connections ahead.
func (j *judgement) unusedAdvice() []step {
	age := j.rung.age()
	text := fmt.Sprintf("do not open connections ahead of their first request (minimum idle, pre-connect, warm-up), or use each within %s: what never carried a request is ended then, whatever used ones may do.", human(age))
	if status := j.at.PushedStatus; status > 0 {
		text += fmt.Sprintf(" A client that does not look first takes the %d for the answer to its request.", status)
	}
	return []step{
		next(text),
		next("For the API's owner: the timeout is the one for a request to come (HAProxy `timeout http-request`, Node `headersTimeout` and `requestTimeout`, nginx `client_header_timeout`), not the one for keep-alive."),
	}
}
