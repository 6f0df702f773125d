package runner_test

import (
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"

	"perch.example/probes"
)

// TestNoTokenIsNoFailureOfTheTarget: a token endpoint that is down takes the probes
// that need it with it, and no other.
func TestNoTokenIsNoFailureOfTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
			if h.host == "127.0.0.1:50" {
				w.WriteHeader(http.StatusBadRequest)
			}
		})
		all := exchanges(7)
		for i := range all[:4] {
			all[i].OAuth = &probes.OAuth{
				TokenURL: &url.URL{Scheme: "http", Host: "127.0.0.1:50", Path: "/token"}, ClientID: "me", Secret: probes.Source{Env: "SECRET"}, DailyLimit: 100,
			}
		}
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 50, all...))
		for _, o := range out.all {
			want := probes.ReasonOK
			if o.Probe < "p4" {
				want = probes.ReasonUnauthorized
			}
			if o.Cut != "" || lastReason(o) != want {
				t.Errorf("%s: %s %s: %+v", o.Probe, o.Cut, o.CutDetail, o.Attempts)
			}
		}
		if n := len(s.to("192.0.2.1")); n != 3 || out.use(t, "api").Requests != 3 {
			t.Errorf("%d requests reached the API, want those of the 3 probes that need no token; %+v", n, out.use(t, "api"))
		}
	})
}
