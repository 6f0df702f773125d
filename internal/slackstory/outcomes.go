package slackstory

import (
	"net/url"
	"time"

	"perch.example/diagnose"
	"perch.example/probes"
)

// What a run finds at a target. It is judged as perch judges: what the stories
// make up are observations, never words.

// judged is what a run makes of a probe's observations. A ladder's rungs are warmed
// apart, as the plan has them: ends at one moment would be a reload's.
func judged(spec probes.Spec, seen ...probes.Observation) []probes.Outcome {
	for i := range seen {
		seen[i].Target, seen[i].Probe, seen[i].Kind = spec.Target, spec.Probe, spec.Kind
		if spec.Kind == probes.KindIdle {
			later(&seen[i], time.Duration(i)*min(5*time.Second, spec.KeepAlive/10))
		}
	}
	return diagnose.Judge(diagnose.Input{
		Spec: spec, Observations: seen, Now: start().Add(time.Minute),
		Last:   diagnose.Last{Seen: true},
		Budget: probes.BudgetUse{Target: spec.Target, LimitPerSecond: 2, Requests: 9, PeakPerSecond: 2},
	})
}

// idle is a ladder's probe, and the application's client.
func idle(target string) probes.Spec {
	return probes.Spec{
		Target: target, Probe: "calendar-idle", Kind: probes.KindIdle, Method: "GET", Every: 5 * time.Minute,
		URL:       &url.URL{Scheme: "https", Host: "api.partner.example", Path: "/v1/calendar"},
		KeepAlive: time.Minute, Client: client(),
		Notice: probes.NoticeInfo{
			Owner: "team-stock", Severity: "page", Channel: "#stock", Runbook: "https://wiki.example/stock-api",
			URL: "https://api.partner.example/v1/calendar",
		},
	}
}

// client is the one of the incident that perch was made for: it looks at a
// connection after 2 s only, and its retry list lacks what it throws.
func client() *probes.Client {
	return &probes.Client{
		Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate",
		MaxIdle:          probes.Limit{Mode: probes.LimitNone},
		ValidateAfter:    probes.Limit{Mode: probes.LimitAfter, After: 2 * time.Second},
		AutomaticRetries: probes.SwitchNone,
		Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{
			"org.springframework.web.client.HttpServerErrorException",
			"org.springframework.web.client.ResourceAccessException",
		}},
	}
}

// once is a probe of one exchange.
func once(target, probe string) probes.Spec {
	host := target + ".partner.example"
	return probes.Spec{
		Target: target, Probe: probe, Kind: probes.KindHTTP, Method: "GET", Every: 5 * time.Minute,
		URL:   &url.URL{Scheme: "https", Host: host, Path: "/" + probe},
		Retry: probes.Retry{Attempts: 2, Backoff: 200 * ms},
		Notice: probes.NoticeInfo{
			Owner: "team-" + target, Severity: "page", URL: "https://" + host + "/" + probe,
		},
	}
}

// begins: a connection is reset when it is used again, and nobody saw it end.
func begins(target string) []probes.Outcome {
	return judged(idle(target), alive(500*ms), reset(1500*ms))
}

// fails: the path ends idle connections after a second.
func fails(target string) []probes.Outcome {
	return judged(idle(target), alive(500*ms), closed(1500*ms, 1001*ms), closed(2500*ms, time.Second))
}

func works(target string) []probes.Outcome {
	return judged(idle(target), alive(500*ms), alive(1500*ms), alive(2500*ms))
}

// degraded is what the application does not feel: a second try works.
func degraded(target string) []probes.Outcome {
	return judged(once(target, "calendar"), tries(fresh(probes.ReasonReset, 21*ms), fresh(probes.ReasonOK, 148*ms)))
}

// accepted is what fails, and is known and lived with.
func accepted(target string) []probes.Outcome {
	spec := idle(target)
	spec.Accepted = []probes.Accepted{{
		Diagnosis: probes.DiagnosisEarlyClose, IdleFrom: 500 * ms, IdleTo: 3 * time.Second,
		Until: start().Add(4 * 24 * time.Hour).Truncate(24 * time.Hour), Reason: "the partner raises its timeout this week",
	}}
	return judged(spec, alive(500*ms), closed(1500*ms, 1001*ms), closed(2500*ms, time.Second))
}

// down is a target that cannot be reached.
func down(target string) []probes.Outcome {
	refused := fresh(probes.ReasonRefused, 300*time.Microsecond)
	return judged(once(target, "health"), tries(refused, refused))
}
