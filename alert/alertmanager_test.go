package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"perch.example/probes"
)

// tells returns what a notice tells Alertmanager.
func tells(t *testing.T, n Notice) []amAlert {
	t.Helper()
	var got []amAlert
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost || r.URL.String() != "https://am.example/prefix/api/v2/alerts" || r.Header.Get("X-Scope-OrgID") != "shop" {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(&body)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil {
			t.Errorf("posted what is not alerts: %v", err)
		}
		return canned(200, "", nil), nil
	})}
	to := NewAlertmanager(probes.NewSecret("https://am.example/prefix/\n"), func(context.Context) (http.Header, error) {
		return http.Header{"X-Scope-Orgid": {"shop"}}, nil
	}, client)
	if _, err := to.Send(t.Context(), n, Receipt{}); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestAlertLabelsStay: an alert is known by its labels, so that nothing that
// changes while the incident lasts is one.
func TestAlertLabelsStay(t *testing.T) {
	want := map[string]string{
		"alertname": "PerchIncident", "perch": "shop", "vantage": "prod-tokyo", "target": "stock-api", "family": "connection",
		"severity": "page", "owner": "team-stock",
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon().Add(2 * time.Hour)))
		ongoing := tale("stock-api", KindOngoing, "STILL FIRING")
		sharper := tale("stock-api", KindOngoing, "STILL FIRING: another diagnosis")
		sharper.Diagnosis, sharper.Trail[2].Value, sharper.About[0].Failed = "other", "another run", 9
		end := tale("stock-api", KindResolved, "RESOLVED")
		for _, n := range []Notice{ongoing, sharper, end} {
			all := tells(t, n)
			if len(all) != 1 || !maps.Equal(all[0].Labels, want) || !all[0].StartsAt.Equal(noon()) {
				t.Errorf("%s tells %+v, want the labels %v from noon on", n.Kind, all, want)
			}
		}
	})
}

// TestAlertEnds: later than the next word, and when it is over then.
func TestAlertEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon().Add(2 * time.Hour)))
		now := time.Now()
		for every, want := range map[time.Duration]time.Duration{
			time.Minute: 15 * time.Minute, 5 * time.Minute: 15 * time.Minute, time.Hour: 3 * time.Hour, 0: time.Hour,
		} {
			n := tale("stock-api", KindOngoing, "STILL FIRING")
			n.About[0].Every, n.About[0].Since = every, now.Add(-time.Minute)
			if got := tells(t, n)[0]; !got.EndsAt.Equal(now.Add(want)) || !got.StartsAt.Equal(now.Add(-time.Minute)) {
				t.Errorf("every %s: ends after %s, want %s", every, got.EndsAt.Sub(now), want)
			}
		}
		end := tale("stock-api", KindResolved, "RESOLVED")
		if got := tells(t, end)[0]; !got.EndsAt.Equal(noon().Add(time.Hour)) {
			t.Errorf("it ends at %s, want the incident's end", got.EndsAt)
		}
		ahead := tale("stock-api", KindOngoing, "STILL FIRING")
		ahead.About[0].Since = now.Add(24 * time.Hour) // by a clock that was wrong
		if got := tells(t, ahead)[0]; !got.StartsAt.Equal(now) || !got.EndsAt.After(now) {
			t.Errorf("it lasts from %s to %s, want it open now", got.StartsAt, got.EndsAt)
		}
		end.About[0].Ended, end.About[0].Since = time.Time{}, time.Time{}
		if got := tells(t, end)[0]; !got.EndsAt.Equal(now) || got.StartsAt.After(got.EndsAt) || got.StartsAt.IsZero() {
			t.Errorf("without times it lasts from %s to %s, want an end now", got.StartsAt, got.EndsAt)
		}
	})
}

// TestAlertIsFit: whatever a notice holds, Alertmanager can take it.
func TestAlertIsFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := tale("stock-api", KindOngoing, strings.Repeat("long ", 500))
		n.Summary, n.Trail = strings.Repeat("é", 5000), []Fact{{"perch", "a\x00\xff\nb"}}
		n.About[0].Owner, n.About[0].Severity, n.About[0].Runbook = "", "\t", "javascript:alert(1)"
		n.About = append(n.About, tale("price-api", KindOngoing, "").About...)
		all := tells(t, n)
		if len(all) != 2 || all[1].Labels["target"] != "price-api" {
			t.Fatalf("told %+v, want both incidents", all)
		}
		name := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
		for _, m := range []map[string]string{all[0].Labels, all[0].Annotations} {
			for key, value := range m {
				if !name.MatchString(key) || value == "" || !utf8.ValidString(value) || size(value) > maxDescription {
					t.Errorf("%s is %q", key, value)
				}
			}
		}
		if labels := slices.Sorted(maps.Keys(all[0].Labels)); !slices.Equal(labels, []string{"alertname", "family", "perch", "target"}) {
			t.Errorf("labels %v, want those alone that are known", labels)
		}
		if all[0].Annotations["runbook_url"] != "" || all[0].GeneratorURL != n.Links[0].URL || all[0].Annotations["dashboard"] != n.Links[0].URL {
			t.Errorf("it links to %+v, generator %q", all[0].Annotations, all[0].GeneratorURL)
		}
	})
}

// TestAlertmanagerWants what is open and what is over, and nothing else.
func TestAlertmanagerWants(t *testing.T) {
	to := NewAlertmanager(probes.NewSecret("https://am.example"), nil, nil)
	for _, k := range []Kind{KindFiring, KindFlapping, KindSharper, KindReminder, KindDigest, KindBacklog, KindTest, KindPreview} {
		if to.Wants(k) {
			t.Errorf("it wants %s", k)
		}
	}
	if !to.Wants(KindOngoing) || !to.Wants(KindResolved) {
		t.Error("it does not want what is open and what is over")
	}
	if got := tells(t, Notice{ID: "1", Kind: KindResolved}); got != nil {
		t.Errorf("a notice about nothing tells %+v", got)
	}
}

// TestEndsForAlertmanagerAreNotSummedUp: it takes no sum, and would keep what is
// over as open for as long as that lives there. What it forgot is dropped.
func TestEndsForAlertmanagerAreNotSummedUp(t *testing.T) {
	o := Options{FireAfter: 1, ResolveAfter: 1, Mode: ModeNotify, Destinations: []string{"slack", "alertmanager"}, NoBacklog: []string{"alertmanager"}}
	daily := func(all ...probes.Outcome) probes.Run {
		for n := range all {
			all[n].Every = map[string]time.Duration{"a": 24 * time.Hour, "b": time.Hour}[all[n].Target]
		}
		return runOf(all...)
	}
	m, _ := Decide(Memory{}, daily(failing("a"), failing("b")), after(o, 0))
	for _, n := range m.Outbox {
		m = m.told(n.ID, "slack").told(n.ID, "alertmanager")
	}
	m, _ = Decide(m, daily(working("a"), working("b")), after(o, time.Hour))
	waits := func(hours int, want ...string) {
		t.Helper()
		var got []string
		m, _ = Decide(m, daily(), after(o, time.Duration(hours)*time.Hour))
		for _, n := range m.Outbox {
			for _, w := range n.Ways {
				got = append(got, w.Destination+" "+string(n.Kind)+" "+strings.Join(n.names(), " "))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("after %d h wait\n%s\nwant\n%s", hours, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	a, b := "a/reachability#1", "b/reachability#2"
	waits(24, "alertmanager resolved "+a, "alertmanager resolved "+b, "slack resolved "+a, "slack resolved "+b)
	waits(26, "alertmanager resolved "+a, "slack backlog "+a+" "+b)
	waits(72, "alertmanager resolved "+a, "slack backlog "+a+" "+b)
	waits(74, "slack backlog "+a+" "+b)
}

func after(o Options, d time.Duration) Options {
	o.Now = noon().Add(d)
	return o
}
