package alert

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestOngoing: what is open, told and heard, in each run, and nothing of it is kept.
func TestOngoing(t *testing.T) {
	bad := fleet("abc", "a", "b", "c")
	for i := range bad.Outcomes {
		bad.Outcomes[i].Every = 5 * time.Minute
		if bad.Outcomes[i].Target == "c" {
			bad.Outcomes[i].Every = time.Hour
		}
	}
	m, _ := decideAll(options, bad)
	if got := Ongoing(m, bad, options(0)); len(got) != 0 {
		t.Errorf("pending ones are told: %+v", got)
	}
	m, _ = decideAll(options, bad, bad)
	o := options(2)
	o.Silences = []Silence{{Match: "b", Until: o.Now.Add(time.Hour)}}
	got := Ongoing(m, runOf(), o)
	if len(got) != 3 || got[0].About[0].Every != 5*time.Minute || got[1].Target != "b" || got[2].About[0].Every != time.Hour {
		t.Fatalf("ongoing are %+v, want all three, b's in spite of its silence, each with its interval", got)
	}
	text := strings.Join(strings.Fields(Text(got[0])), " ")
	for _, want := range []string{"STILL FIRING a: idle connections are closed too early", "Open for 10 min", "At the opening: the connection was closed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	hushed, _ := decideAll(func(n int) Options {
		o := options(n)
		o.Silences = []Silence{{Match: "b", Until: o.Now.Add(time.Hour)}}
		return o
	}, bad, bad)
	if got := Ongoing(hushed, bad, o); len(got) != 2 || got[0].Target != "a" || got[1].Target != "c" {
		t.Errorf("ongoing are %+v, want nothing of b, which was silenced before it was told", got)
	}
	o.Mode = ModeReport
	unheard, _ := decideAll(func(n int) Options {
		o := options(n)
		o.Mode = ModeReport
		return o
	}, bad, bad)
	if got := Ongoing(unheard, bad, o); len(got) != 0 {
		t.Errorf("what nobody was told is ongoing: %+v", got)
	}
}

func TestDashboard(t *testing.T) {
	o := options(0)
	i := Incident{Target: "stock api&co", Since: noon()}
	lead := probes.Outcome{Probe: "calendar"}
	from, to := noon().Add(-time.Hour).UnixMilli(), o.Now.UnixMilli()
	span := fmt.Sprintf("&from=%d&to=%d", from, to)
	tests := []struct{ name, address, want string }{
		{"plain", "https://g.example/d/perch", "https://g.example/d/perch?var-perch=shop&var-vantage=prod-tokyo&var-target=stock+api%26co&var-probe=calendar" + span},
		{"its own query stays", "https://g.example/d/perch?orgId=1&kiosk#top", "https://g.example/d/perch?orgId=1&kiosk&var-perch=shop&var-vantage=prod-tokyo&var-target=stock+api%26co&var-probe=calendar" + span + "#top"},
		{"what it sets already is not set again", "https://g.example/d/perch?var-perch=all&from=now-6h&to=now", "https://g.example/d/perch?var-perch=all&from=now-6h&to=now&var-vantage=prod-tokyo&var-target=stock+api%26co&var-probe=calendar"},
		{"none", "", ""},
		{"no address", "grafana", ""},
		{"too long for more", "https://g.example/" + strings.Repeat("d", 450), "https://g.example/" + strings.Repeat("d", 450)},
	}
	for _, tt := range tests {
		o.DashboardURL = tt.address
		if got := dashboard(o, runOf(), placeOf(i, lead)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	o.DashboardURL = "https://g.example/d/perch"
	u, err := url.Parse(dashboard(o, runOf(), place{targets: []string{"a", "b"}}))
	if err != nil || len(u.Query()["var-target"]) != 2 || u.Query().Has("from") {
		t.Errorf("of two targets: %v, %v", u, err)
	}
}

func TestTheTestNotice(t *testing.T) {
	n := Test(options(0), runOf())
	text := strings.Join(strings.Fields(Text(n)), " ")
	for _, want := range []string{"TEST from perch shop: nothing is wrong", "`perch alert test` at 2026-03-02 12:00 UTC", "prod-tokyo", "https://grafana.example/d/perch"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if n.Kind != KindTest || len(n.About) != 0 || n.Thread != "" {
		t.Errorf("it is about something: %+v", n)
	}
}
