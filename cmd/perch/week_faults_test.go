//go:build peers

package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"perch.example/internal/slackfake"
	"perch.example/state"
)

// What goes wrong around perch in a week: Slack, the state's store, and perch
// itself, which is killed at any point between decide, send and save.

// killed is what a process of a test dies of.
type killed struct{}

// moment is a point of a run at which it may be killed.
type moment struct {
	what string // save, send
	n    int    // which of them, from 1
	done bool   // after it, and not before
}

// process is one run's, from its start to its end or death.
type process struct {
	dies  moment
	count map[string]int
	fails func(what string) // called when a save failed
}

// begins counts a point, and dies before it if that is its time.
func (p *process) begins(what string) {
	p.count[what]++
	if p.dies == (moment{what, p.count[what], false}) {
		panic(killed{})
	}
}

// ends dies after a point if that is its time.
func (p *process) ends(what string) {
	if p.dies == (moment{what, p.count[what], true}) {
		panic(killed{})
	}
}

// mortalStore is a store in whose calls the process may die.
type mortalStore struct {
	keeper
	process *process
}

func (s mortalStore) Save(ctx context.Context, d state.Document) error {
	s.process.begins("save")
	err := s.keeper.Save(ctx, d)
	s.process.ends("save")
	if err != nil {
		s.process.fails("save: " + err.Error())
	}
	return err
}

// mortalWeb is a network in whose calls the process may die.
type mortalWeb struct {
	base    http.RoundTripper
	process *process
}

func (w mortalWeb) RoundTrip(r *http.Request) (*http.Response, error) {
	w.process.begins("send")
	answer, err := w.base.RoundTrip(r)
	w.process.ends("send")
	return answer, err
}

// oddHours are when more goes wrong than usual.
type oddHours struct {
	dice  *rand.Rand
	away  []window // Slack is down
	shaky []window // Slack comes back: three calls of four fail
	quiet []window // nothing goes wrong: what is told then must be told at once
}

// slack is how Slack takes a call: down for an hour, else every fourth call
// fails, in one of all the ways there are.
func (o *oddHours) slack(c slackfake.Call) slackfake.Fault {
	if within(o.away, c.At) {
		return o.one(slackfake.Status(http.StatusServiceUnavailable), slackfake.Status(http.StatusInternalServerError), slackfake.Cut())
	}
	fine := o.dice.IntN(4) > 0
	if within(o.shaky, c.At) {
		fine = !fine
	}
	if within(o.quiet, c.At) || fine {
		return slackfake.Fault{}
	}
	return o.one(
		slackfake.RateLimited("2"), slackfake.RateLimited("1.5"), slackfake.RateLimited("120"), slackfake.RateLimited(""),
		slackfake.Status(http.StatusInternalServerError), slackfake.Status(http.StatusInternalServerError).Accepted(),
		slackfake.Cut(), slackfake.Cut().Accepted(), slackfake.Hang(), slackfake.Hang().Accepted(), slackfake.Slow(3*time.Second),
	)
}

func (o *oddHours) one(all ...slackfake.Fault) slackfake.Fault { return all[o.dice.IntN(len(all))] }

// death is when the run that starts at that time is killed: one of thirty runs,
// and of those in which something begins or ends, every second.
func (o *oddHours) death(at time.Time, edges []time.Time) moment {
	near := func(edge time.Time) bool { return !at.Before(edge) && at.Before(edge.Add(12*time.Minute)) }
	odds := 30
	if slices.ContainsFunc(edges, near) {
		odds = 2
	}
	if within(o.quiet, at) || o.dice.IntN(odds) > 0 {
		return moment{}
	}
	return moment{what: []string{"save", "send"}[o.dice.IntN(2)], n: 1 + o.dice.IntN(3), done: o.dice.IntN(2) == 0}
}
