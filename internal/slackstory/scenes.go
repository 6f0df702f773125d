package slackstory

import (
	"context"
	"time"

	"perch.example/alert"
)

// between is the time from one run to the next.
const between = 5 * time.Minute

// Scenes tells all stories, in the order in which docs/alerts.md shows them. It
// waits between messages as the sender does: call it in a bubble of
// testing/synctest.
func Scenes(ctx context.Context) ([]Scene, error) {
	var all []Scene
	for _, tell := range []func(context.Context) (Scene, error){
		firing, sharper, reminder, resolved, flapping, group, webhook, repeat, backlog, digest, trial,
	} {
		scene, err := tell(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, scene)
	}
	return all, nil
}

func firing(ctx context.Context) (Scene, error) {
	t := by(ctx, true)
	t.opens()
	return t.scene("firing", "An incident opens: one message, and its pictures in the thread")
}

// opens is a target that fails in two runs.
func (t *teller) opens() {
	t.run(fails("stock-api"))
	t.later(between)
	t.run(fails("stock-api"))
}

func sharper(ctx context.Context) (Scene, error) {
	t := by(ctx, true)
	t.run(begins("stock-api"))
	t.later(between)
	t.run(begins("stock-api"))
	t.later(between)
	t.run(fails("stock-api"))
	s, err := t.scene("sharper", "More is known: a reply, and the first message says it, too")
	return s.fromLast(), err
}

func reminder(ctx context.Context) (Scene, error) {
	t := by(ctx, true)
	t.opens()
	t.later(24 * time.Hour)
	t.run(fails("stock-api"))
	s, err := t.scene("reminder", "A day later it is still open: a reply, shown in the channel too")
	return s.withoutDigest().fromLast(), err
}

func resolved(ctx context.Context) (Scene, error) {
	t := by(ctx, true)
	t.opens()
	for range 2 {
		t.later(between)
		t.run(works("stock-api"))
	}
	s, err := t.scene("resolved", "It is over: the first message says so, the reply says why")
	return s.fromLast(), err
}

func flapping(ctx context.Context) (Scene, error) {
	t := by(ctx, true)
	t.options.FireAfter, t.options.ResolveAfter = 1, 1
	for range 2 {
		t.run(fails("stock-api"))
		t.later(between)
		t.run(works("stock-api"))
		t.later(between)
	}
	before := len(t.fake.Messages())
	t.run(fails("stock-api"))
	s, err := t.scene("flapping", "The third opening within an hour: one incident from here on")
	if err == nil {
		s.Messages, s.Files = s.Messages[before:], nil
	}
	return s, err
}

func group(ctx context.Context) (Scene, error) {
	t := by(ctx, false)
	for range 2 {
		t.run(down("orders"), down("prices"), down("stock"), down("users"))
		t.later(between)
	}
	return t.scene("group", "The same at three targets or more, in one run: one message")
}

func webhook(ctx context.Context) (Scene, error) {
	t := by(ctx, false)
	t.opens()
	return t.scene("webhook", "By a webhook: all in one message, no thread, no pictures")
}

func repeat(ctx context.Context) (Scene, error) {
	t := by(ctx, false)
	t.run(down("orders"))
	t.later(between)
	t.lost(down("orders"))
	t.later(between)
	t.run(down("orders"))
	s, err := t.scene("repeat", "No clear answer came, so the next run sends it again, and says so")
	if err == nil {
		s.Messages = s.Messages[1:]
	}
	return s, err
}

func backlog(ctx context.Context) (Scene, error) {
	t := by(ctx, false)
	t.options.RemindEvery = 0
	for range 2 {
		t.decide(fails("orders"), fails("stock-api"))
		t.later(between)
	}
	for range 2 {
		t.decide(works("orders"), fails("stock-api"))
		t.later(between)
	}
	t.later(25 * time.Hour)
	t.run(works("orders"), fails("stock-api"))
	s, err := t.scene("backlog", "Slack was away for more than a day: what came and went is summed up, what is open is told in full")
	return s.withoutDigest(), err
}

func digest(ctx context.Context) (Scene, error) {
	t := by(ctx, false)
	for range 3 {
		t.run(degraded("stock-api"), accepted("prices"))
		t.later(between)
	}
	t.later(12 * time.Hour)
	t.run(works("stock-api"), works("prices"))
	return t.scene("digest", "Once a day: what was degraded, and what is accepted only for a little longer")
}

func trial(ctx context.Context) (Scene, error) {
	t := by(ctx, false)
	t.options.Now = t.now
	if _, err := t.to.Sender.Send(ctx, alert.Test(t.options, t.found()), alert.Receipt{}); err != nil {
		return Scene{}, err
	}
	return t.scene("test", "What perch alert test sends")
}
