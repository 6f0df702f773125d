// Package slackstory plays the lives of incidents through perch's decisions
// and its sender into a fake of Slack: what the pictures in docs show, and what
// is checked against Slack's own types, is what Slack would hold.
package slackstory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/internal/slackfake"
	"perch.example/probes"
)

// Scene is what a channel shows after one story.
type Scene struct {
	Name     string // of its picture: "firing"
	Caption  string
	Messages []slackfake.Message
	Files    []slackfake.File
	// From is the first reply that matters: those before it are told in another
	// scene. 0: all matter.
	From int
}

const (
	token = "xoxb-story"
	stock = "C0000STOCK1"
	ops   = "C00000OPS01"
	hook  = "/services/T00000001/B00000001/story"
)

// teller runs perch on a clock of its own.
type teller struct {
	ctx     context.Context
	now     time.Time
	fake    *slackfake.Fake
	to      alert.Destination
	memory  alert.Memory
	options alert.Options
	runs    int
	err     error // the first failure that the story does not want
}

// by begins a story that is told by a webhook, or by a bot.
func by(ctx context.Context, bot bool) *teller {
	t := &teller{ctx: ctx, now: start(), options: alert.Options{
		FireAfter: 2, ResolveAfter: 2, RemindEvery: 24 * time.Hour, Mode: alert.ModeNotify,
		Destinations: []string{"slack"}, DashboardURL: "https://grafana.example/d/perch",
	}}
	t.fake = slackfake.New(slackfake.Config{
		Token: token, Scopes: []string{"chat:write", "files:write"},
		Channels: []slackfake.Channel{{ID: stock, Name: "stock", Member: true}, {ID: ops, Name: "ops", Member: true}},
		Hooks:    []slackfake.Hook{{Path: hook, Channel: ops}},
		Now:      func() time.Time { return t.now },
	})
	client := &http.Client{Transport: t.fake.Transport()}
	t.to = alert.Destination{Name: "slack", Sender: alert.NewSlack(probes.NewSecret("https://hooks.slack.com"+hook), client)}
	if bot {
		t.to.Sender = alert.NewSlackBot(probes.NewSecret(token), "#ops", client)
	}
	return t
}

// run is one run that found these outcomes, and tells.
func (t *teller) run(outcomes ...[]probes.Outcome) {
	t.decide(outcomes...)
	var all []alert.Delivery
	t.memory, all = alert.Deliver(t.ctx, alert.MarkSending(t.memory), []alert.Destination{t.to}, t.now)
	for _, d := range all {
		t.err = errors.Join(append([]error{t.err}, d.Errors...)...)
	}
}

// decide is a run that ends before it tells.
func (t *teller) decide(outcomes ...[]probes.Outcome) {
	t.runs++
	t.options.Now = t.now
	t.memory, _ = alert.Decide(t.memory, t.found(outcomes...), t.options)
}

func (t *teller) found(outcomes ...[]probes.Outcome) probes.Run {
	run := probes.Run{
		Version: "0.1.0", Name: "shop", Vantage: "prod-tokyo", RunID: fmt.Sprintf("7c9e6679f3%02x", t.runs), Seed: 42,
		Started: t.now, Finished: t.now,
	}
	for _, list := range outcomes {
		run.Outcomes = append(run.Outcomes, list...)
	}
	return run
}

func (t *teller) later(d time.Duration) { t.now = t.now.Add(d) }

// lost is a run whose message Slack took, without a clear answer.
func (t *teller) lost(outcomes ...[]probes.Outcome) {
	t.fake.Fail(slackfake.MethodWebhook, 1, slackfake.Status(http.StatusBadGateway).Accepted())
	kept := t.err
	t.run(outcomes...)
	t.err = kept // the failure is the story
}

// scene is what stands in the channel.
func (t *teller) scene(name, caption string) (Scene, error) {
	if remarks := t.fake.Remarks(); len(remarks) > 0 {
		t.err = errors.Join(t.err, fmt.Errorf("slack lets it pass: %q", remarks))
	}
	if t.err != nil {
		return Scene{}, fmt.Errorf("telling %q: %w", name, t.err)
	}
	s := Scene{Name: name, Caption: caption, Messages: t.fake.Messages(), Files: t.fake.Files()}
	if len(s.Messages) == 0 {
		return Scene{}, fmt.Errorf("telling %q: nothing was said", name)
	}
	return s, nil
}

// fromLast is the scene without the replies before the last one.
func (s Scene) fromLast() Scene {
	s.From = 0
	for _, m := range s.Messages {
		if m.Thread != "" {
			s.From++
		}
	}
	return s
}

// withoutDigest is the scene of a day that ends without its digest, which has a
// scene of its own.
func (s Scene) withoutDigest() Scene {
	s.Messages = slices.DeleteFunc(slices.Clone(s.Messages), func(m slackfake.Message) bool { return strings.HasPrefix(m.Title(), "DIGEST") })
	return s
}
