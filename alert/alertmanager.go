package alert

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// Alertmanager tells Prometheus's Alertmanager (API v2) what is open: whoever
// has routing for on-call keeps it.
type Alertmanager struct{ door door }

// How long an alert lives without another word. Between two words it must not
// end, or it would flap; and should perch die, it must end.
const (
	lives        = 3                // times as long as the probes' interval
	livesAtLeast = 15 * time.Minute // a CronJob may run less often than its probes are due
	livesUnsure  = time.Hour        // when the interval is not known
)

// NewAlertmanager sends to {address}/api/v2/alerts. nil headers: none. A nil
// client is one that uses the environment's proxy. Whatever the client,
// redirects are not followed, and a request ends after 10 s at most.
func NewAlertmanager(address probes.Secret, headers Headers, client *http.Client) *Alertmanager {
	whole := probes.NewSecret(strings.TrimRight(strings.TrimSpace(address.Reveal()), "/") + "/api/v2/alerts")
	return &Alertmanager{door: newDoor("Alertmanager", whole, headers, client)}
}

// String says what it is, never where it sends.
func (Alertmanager) String() string { return "Alertmanager" }

// Wants reports that it is told what is open, in each run, and what is over.
// The run that opens an incident tells it as ongoing, too.
func (a *Alertmanager) Wants(k Kind) bool { return k == KindOngoing || k == KindResolved }

// Send tells where a notice's incidents stand. To tell it twice changes
// nothing.
func (a *Alertmanager) Send(ctx context.Context, n Notice, so Receipt) (Receipt, error) {
	var all []amAlert
	now := time.Now()
	for _, about := range n.About {
		all = append(all, amAlertOf(n, about, now))
	}
	if len(all) == 0 {
		return so, nil // an end that is told without its incident, such as a summary
	}
	if failure := a.door.post(ctx, all, nil); failure != nil {
		return so, failure
	}
	return so, nil
}

// amAlert is an alert as Alertmanager's API v2 takes it.
type amAlert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

const (
	maxLabel       = 200
	maxDescription = 1500
)

// amAlertOf is one incident as an alert. Its labels are what it is known by:
// they must not change while it lasts, so that nothing that sharpens is one.
func amAlertOf(n Notice, about About, now time.Time) amAlert {
	alert := amAlert{
		Labels: labels(
			Fact{"alertname", "PerchIncident"}, Fact{"perch", n.origin("perch")}, Fact{"vantage", n.origin("vantage")},
			Fact{"target", about.Target}, Fact{"family", string(about.Family)}, Fact{"severity", about.Severity}, Fact{"owner", about.Owner},
		),
		Annotations: labels(
			Fact{"summary", n.Title}, Fact{"description", n.Summary}, Fact{"diagnosis", string(n.Diagnosis)}, Fact{"incident", about.Name},
		),
		StartsAt: about.Since.UTC(), EndsAt: now.Add(lifetime(about.Every)).UTC(),
	}
	if evidence := amEvidence(n); evidence != "" {
		alert.Annotations["description"] = evidence
	}
	if webURL(about.Runbook) {
		alert.Annotations["runbook_url"] = about.Runbook
	}
	for _, link := range n.Links {
		if link.Name == "Dashboard" && webURL(link.URL) {
			alert.Annotations["dashboard"], alert.GeneratorURL = link.URL, link.URL
		}
	}
	if about.State == StateResolved {
		alert.EndsAt = now.UTC()
		if !about.Ended.IsZero() {
			alert.EndsAt = about.Ended.UTC()
		}
	}
	if about.Since.IsZero() || about.Since.After(now) { // by a clock that was wrong
		alert.StartsAt = now.UTC()
	}
	if alert.StartsAt.After(alert.EndsAt) { // Alertmanager refuses it
		alert.StartsAt = alert.EndsAt
	}
	return alert
}

// lifetime is how long an alert lives after a word.
func lifetime(every time.Duration) time.Duration {
	if every <= 0 {
		return livesUnsure
	}
	return max(lives*every, livesAtLeast)
}

// dropOutlived takes away the way to a destination that forgets by itself, from
// what waited for a day and longer than anything of it lives there: nothing is
// left to end, and the outbox must not grow without bound.
func (m *Memory) dropOutlived(destination string, now time.Time) {
	for at := range m.Outbox {
		n := &m.Outbox[at]
		lives := waitsAtMost
		for _, a := range n.About {
			lives = max(lives, lifetime(a.Every))
		}
		if now.Sub(n.Decided) > lives {
			n.Ways = slices.DeleteFunc(n.Ways, func(w Way) bool { return w.Destination == destination })
		}
	}
	m.Outbox = slices.DeleteFunc(m.Outbox, func(n Notice) bool { return len(n.Ways) == 0 })
}

// labels keeps what has a value, clean and bounded.
func labels(all ...Fact) map[string]string {
	kept := map[string]string{}
	for _, f := range all {
		if value := shorten(clean(f.Value), maxLabel, "…"); value != "" {
			kept[f.Name] = value
		}
	}
	return kept
}

// amEvidence is the notice's summary, and what its first text says.
func amEvidence(n Notice) string {
	lines := []string{clean(n.Summary)}
	if at := slices.IndexFunc(n.Sections, func(s Section) bool { return s.Form == FormText }); at >= 0 {
		for _, line := range n.Sections[at].Lines {
			lines = append(lines, clean(line))
		}
	}
	return shorten(strings.TrimSpace(strings.Join(lines, "\n")), maxDescription, more)
}
