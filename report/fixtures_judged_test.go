package report

import (
	"net/url"
	"testing"
	"time"

	"perch.example/diagnose"
	"perch.example/probes"
)

// TestIncidentIsJudgedSo: the report that docs/reading-a-report.md goes through has
// the verdicts that diagnose gives for what its rungs met, rung by rung.
func TestIncidentIsJudgedSo(t *testing.T) {
	in := diagnose.Input{Now: started().Add(time.Hour), Spec: probes.Spec{
		Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Method: "GET", KeepAlive: 5 * time.Second,
		URL: &url.URL{Scheme: "https", Host: "api.partner.example", Path: "/v1/calendar"},
		Client: &probes.Client{
			Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate", MaxIdle: probes.Limit{Mode: probes.LimitNone},
			ValidateAfter:    probes.Limit{Mode: probes.LimitAfter, After: 2 * time.Second},
			AutomaticRetries: probes.SwitchNone,
			Retry:            &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{"org.springframework.web.client.ResourceAccessException"}},
		},
	}}
	var shown []probes.Outcome
	for _, o := range incident().Outcomes {
		if o.Kind != probes.KindIdle {
			continue
		}
		// The plan warms a ladder's rungs a tenth of keep_alive apart.
		at := started().Add(time.Duration(len(shown)) * in.Spec.KeepAlive / 10)
		attempts := append([]probes.Attempt(nil), o.Attempts...)
		for i := range attempts {
			attempts[i].Started = at
			if i > 0 {
				attempts[i].Started = at.Add(attempts[0].Elapsed + o.Hold)
			}
		}
		seen := o.Close
		if seen != nil {
			c := *seen
			c.At = at.Add(attempts[0].Elapsed + c.Age)
			seen = &c
		}
		shown = append(shown, o)
		in.Observations = append(in.Observations, probes.Observation{
			Target: o.Target, Probe: o.Probe, Kind: o.Kind, Hold: o.Hold, Started: at, Ended: at.Add(o.Hold + time.Second),
			Attempts: attempts, Close: seen, Path: o.Path,
		})
	}
	judged := diagnose.Judge(in)
	if len(judged) != len(shown) || len(shown) != 3 {
		t.Fatalf("%d rungs shown, %d judged, want 3", len(shown), len(judged))
	}
	for i, got := range judged {
		want := shown[i]
		if got.Verdict != want.Verdict || got.Diagnosis != want.Diagnosis || got.Client == nil || got.Client.Experiences != want.Client.Experiences {
			t.Errorf("%s: diagnose says %s (%s), the report shows %s (%s); client %+v", want.Hold, got.Verdict, got.Diagnosis, want.Verdict, want.Diagnosis, got.Client)
		}
	}
}
