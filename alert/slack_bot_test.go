package alert

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/slackfake"
	"perch.example/probes"
)

const botToken = "xoxb-1234567890-hunter2hunter2"

// The channels of the workspace: the default one, a target's own, one that the
// app was not invited to, and one that is archived.
const (
	alertsID  = "C000ALERTS"
	stockID   = "C0000STOCK"
	closedID  = "C000CLOSED"
	archiveID = "C00ARCHIVE"
)

func workspace() *slackfake.Fake {
	return slackfake.New(slackfake.Config{
		Token: botToken, Scopes: []string{"chat:write", "files:write"},
		Channels: []slackfake.Channel{
			{ID: alertsID, Name: "alerts", Member: true}, {ID: stockID, Name: "stock", Member: true},
			{ID: closedID, Name: "closed"}, {ID: archiveID, Name: "archive", Archived: true, Member: true},
		},
		BlockBytes: 13_200,
	})
}

// desk is a memory, and a Slack that it is told to.
type desk struct {
	t    *testing.T
	fake *slackfake.Fake
	m    Memory
}

func newDesk(t *testing.T) *desk { return &desk{t: t, fake: workspace()} }

// adds puts notices into the outbox.
func (d *desk) adds(notices ...Notice) {
	for _, n := range notices {
		n.Decided = time.Now()
		n.Ways = ways([]string{"slack"})
		d.m.Outbox = append(d.m.Outbox, n)
	}
}

// run is one run's delivery: marked, saved, sent.
func (d *desk) run() Delivery {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	bot := NewSlackBot(probes.NewSecret(botToken+"\n"), "#alerts", &http.Client{Transport: d.fake.Transport()})
	m, all := Deliver(ctx, MarkSending(d.m), []Destination{{Name: "slack", Sender: bot}}, time.Now())
	d.m = m
	return all[0]
}

// told fails unless everything was told, with so many problems beside.
func (d *desk) told(problems int) {
	d.t.Helper()
	got := d.run()
	if got.Untold != 0 || len(d.m.Outbox) != 0 || len(got.Errors) != 0 || len(got.Problems) != problems {
		d.t.Errorf("delivered %+v, want all told and %d problems", got, problems)
	}
}

// events are what Slack accepted, without times and ids.
func (d *desk) events() []string {
	var all []string
	for _, e := range d.fake.Events() {
		all = append(all, e.What+" "+e.Title)
	}
	return all
}

// expects compares what Slack accepted, and that it met nothing odd.
func (d *desk) expects(want ...string) {
	d.t.Helper()
	if got := d.events(); !slices.Equal(got, want) {
		d.t.Errorf("Slack accepted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if odd := d.fake.Remarks(); len(odd) > 0 {
		d.t.Errorf("Slack let pass what no program should send: %q", odd)
	}
}

// roots are the messages outside any thread.
func (d *desk) roots() []slackfake.Message {
	return slices.DeleteFunc(d.fake.Messages(), func(m slackfake.Message) bool { return m.Thread != "" })
}

// tale is a notice of the incident on one target.
func tale(target string, k Kind, title string) Notice {
	about := About{
		Name: target + "/connection#1", Target: target, Family: probes.FamilyConnection, State: StateFiring, Probes: []string{target + "/calendar"},
		Since: noon(), Fired: noon().Add(5 * time.Minute), Failed: 2, Counted: 3, Owner: "team-stock", Severity: "page", Every: 5 * time.Minute,
		Trouble: "idle connections are closed too early", Runbook: "https://wiki.example/" + target,
	}
	if k == KindResolved {
		about.State, about.Ended = StateResolved, noon().Add(time.Hour)
	}
	n := Notice{
		ID: about.Name + " " + string(k), Kind: k, Target: target, Family: about.Family, Thread: about.Name, About: []About{about},
		Diagnosis: probes.DiagnosisEarlyClose, Title: title, Summary: "Reuse fails & the retry list misses it.", Severity: "page",
		Links: []Link{{"Dashboard", "https://grafana.example/d/perch?var-target=" + target}},
		Trail: []Fact{{"perch", "shop"}, {"vantage", "prod-tokyo"}, {"run", "7c9e6679f3a1"}},
		Sections: slices.Concat(
			section("What the application experiences", FormText, 500, []string{"It throws <NoHttpResponseException>."}),
			facts("Since when", Fact{"Owner", "team-stock"}),
			section("The ladder", FormFixed, 500, []string{"500 ms  pass", "1.5 s   FAIL"}),
			section("What to change", FormList, 500, []string{"Set the idle limit to 750 ms."}),
		),
	}
	return n
}

// charted is a notice that has something to draw.
func charted(n Notice) Notice {
	n.Charts = Charts{
		Ladder:  []ChartRung{{Hold: 500 * ms, Verdict: probes.VerdictPass, Reason: probes.ReasonOK}, {Hold: 1500 * ms, Closed: 1001 * ms, Verdict: probes.VerdictFail, Reason: probes.ReasonIdleFIN}},
		Latency: []ChartAttempt{{Connection: probes.ConnectionFresh, Elapsed: 131 * ms, RTT: 110 * ms, OK: true}, {Connection: probes.ConnectionReused, Elapsed: ms, OK: false}},
	}
	return n
}

// pictured are the events of a notice's two pictures.
func pictured(events ...string) []string {
	return append(events, "shared Held idle, then used again", "shared How long attempts took")
}

// TestThreadLife: an incident is one message, kept up to date, and a thread.
func TestThreadLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		firing := charted(tale("stock-api", KindFiring, "FIRING stock-api"))
		firing.Channel = "#stock"
		d.adds(firing)
		d.told(0)
		life := pictured("posted FIRING stock-api")
		d.expects(life...)
		root := d.roots()[0]
		if at := d.m.Threads["slack stock-api/connection#1"]; at.Channel != stockID || at.Root != root.TS || root.Channel != stockID {
			t.Fatalf("threads %+v, want the root %s in %s", d.m.Threads, root.TS, stockID)
		}
		for _, file := range d.fake.Files() {
			if file.Thread != root.TS || file.Channel != stockID || file.Alt == "" || !strings.HasPrefix(string(file.Content), "\x89PNG") {
				t.Errorf("%s is in %s of %s, with %d bytes and the words %q", file.Name, file.Thread, file.Channel, len(file.Content), file.Alt)
			}
		}
		d.adds(charted(tale("stock-api", KindSharper, "CHANGED stock-api: early close")))
		d.told(0)
		life = pictured(append(life, "replied CHANGED stock-api: early close", "edited FIRING stock-api: early close")...)
		d.expects(life...)

		d.adds(tale("stock-api", KindReminder, "STILL FIRING stock-api"))
		d.told(0)
		life = append(life, "replied STILL FIRING stock-api", "edited STILL FIRING stock-api")
		d.adds(tale("stock-api", KindResolved, "RESOLVED stock-api"))
		d.told(0)
		d.expects(append(life, "replied RESOLVED stock-api", "edited RESOLVED stock-api")...)
		if roots := d.roots(); len(roots) != 1 || !strings.Contains(string(roots[0].Blocks), "Over since 2026-03-02 13:00 UTC") {
			t.Errorf("roots %+v, want one that says when it was resolved", roots)
		}
	})
}

// TestSeveralInOneThread: the end of one incident is not the end of all.
func TestSeveralInOneThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		names := []string{"stock-api", "price-api", "media-api"}
		group := tale(names[0], KindFiring, "FIRING 3 targets")
		group.Charts = Charts{}
		for _, name := range names[1:] {
			group.About = append(group.About, tale(name, KindFiring, "").About...)
		}
		for _, name := range names {
			d.m.Incidents = append(d.m.Incidents, Incident{Number: 1, Target: name, Family: probes.FamilyConnection, State: StateFiring, Thread: group.Thread})
		}
		d.adds(group)
		d.told(0)
		more := tale(names[0], KindSharper, "CHANGED "+names[0])
		more.Thread, more.Sections = group.Thread, section("More of one", FormText, maxFact, []string{"it is known"})
		d.adds(more)
		d.told(0)
		if root := string(d.roots()[0].Blocks); strings.Contains(root, "More of one") || !strings.Contains(root, "750 ms") {
			t.Errorf("more of one target took the place of what was told of all: %s", root)
		}
		life := []string{"posted FIRING 3 targets", "replied CHANGED stock-api", "edited FIRING 3 of 3: stock-api, price-api, media-api"}
		for i, title := range []string{"FIRING 2 of 3: price-api, media-api", "FIRING 1 of 3: media-api", "RESOLVED all 3: stock-api, price-api, media-api"} {
			d.m.Incidents[i].State = StateResolved
			end := tale(names[i], KindResolved, "RESOLVED "+names[i])
			end.Thread = group.Thread
			d.adds(end)
			d.told(0)
			life = append(life, "replied RESOLVED "+names[i], "edited "+title)
		}
		d.expects(life...)
	})
}

// TestEveryNoticeOfPerch: Slack takes all that is told, whole, and finds nothing odd.
func TestEveryNoticeOfPerch(t *testing.T) {
	for name, n := range goldenNotices(t) {
		if n.Kind == KindPreview || n.Kind == KindOngoing {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				n.Channel, n.Charts = "", Charts{}
				d.adds(n)
				d.told(0)
				for _, m := range d.fake.Messages() {
					if len(m.Blocks) == 0 {
						t.Errorf("%q had to be sent as text", m.Text)
					}
				}
				if odd := d.fake.Remarks(); len(odd) > 0 {
					t.Errorf("Slack let pass what no program should send: %q", odd)
				}
			})
		})
	}
}

// TestNoticesThatStandAlone: a digest is one message, whole.
func TestNoticesThatStandAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for _, k := range []Kind{KindDigest, KindTest, KindBacklog} {
			n := tale("stock-api", k, string(k))
			n.Thread, n.About = "", nil
			d.adds(n)
		}
		d.told(0)
		d.expects("posted digest", "posted test", "posted backlog")
		if len(d.m.Threads) != 0 || !strings.Contains(string(d.roots()[0].Blocks), "750 ms") {
			t.Errorf("threads %v, message %s", d.m.Threads, d.roots()[0].Blocks)
		}
	})
}
