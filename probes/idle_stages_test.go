package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// trouble is what happens at a stage of a rung.
type trouble string

const (
	refuse trouble = "refuse" // the budget does not let it on
	end    trouble = "end"    // the run ends right there
	blow   trouble = "blow"   // a bug panics
)

// staged is a rung whose every step outside of itself runs through at.
type staged struct {
	desk *desk
	env  Env
}

func newStaged(t *testing.T, p *peer, at func(stage string) error) staged {
	d := &desk{t: t, at: at}
	env := newEnv(p, d)
	env.Secrets = func(Source) (Secret, error) { return NewSecret("x"), at("secret") }
	env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := at("network"); err != nil {
			return nil, err
		}
		return p.network.Dial(ctx, network, address)
	}
	env.Watch = func(e Event) { _ = at("watch " + string(e.What)) }
	env.Learn = func(a Attempt) { _ = at("learn " + string(a.Connection)) }
	return staged{d, env}
}

// stagesOf plays a rung whose reuse fails, and returns the stages it runs
// through.
func stagesOf(t *testing.T, at func(stage string) error) (Observation, *desk, []string) {
	t.Helper()
	ctx := t.Context()
	p := newPeer(t, answer(200), "", answer(200))
	var stages []string
	play := newStaged(t, p, func(stage string) error {
		stages = append(stages, stage)
		return at(stage)
	})
	s := newSpec(t, KindIdle, api)
	s.Headers = []Field{{Name: "Authorization", From: Source{Env: "T"}}}
	o := playIdle(t, ctx, s, time.Minute, play.env)
	return o, play.desk, stages
}

// TestRungThroughEveryTrouble lets each kind of trouble happen at each stage:
// the rung is reported exactly once, every connection's token comes back
// exactly once, and the observation says what happened.
func TestRungThroughEveryTrouble(t *testing.T) {
	var stages []string
	synctest.Test(t, func(t *testing.T) {
		var o Observation
		o, _, stages = stagesOf(t, func(string) error { return nil })
		if got := fmt.Sprint(reasons(o)); got != "[ok eof ok]" {
			t.Fatalf("without trouble: %s", got)
		}
	})
	want := "watch started, secret, dial warm, network, send warm, learn fresh, hold, watch holding, send reuse, learn reused, " +
		"dial control, network, send control, learn control, watch done"
	if got := strings.Join(stages, ", "); got != want {
		t.Fatalf("the stages are %s", got)
	}
	for i, stage := range stages {
		for _, what := range []trouble{refuse, end, blow} {
			if what == refuse && !strings.Contains(stage, "dial ") && !strings.Contains(stage, "send ") && stage != "hold" {
				continue // only the budget refuses
			}
			synctest.Test(t, func(t *testing.T) { troubleAt(t, i, stage, what) })
		}
	}
}

// troubleAt lets it happen at the stage with that index.
func troubleAt(t *testing.T, index int, stage string, what trouble) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := newPeer(t, answer(200), "", answer(200))
	n := 0
	play := newStaged(t, p, func(at string) error {
		n++
		if n-1 != index {
			return nil
		}
		if at != stage {
			t.Errorf("stage %d is %s, not %s", index, at, stage)
		}
		switch what {
		case refuse:
			return &Denied{Why: "full"}
		case end:
			cancel(errors.New("the deadline"))
			if strings.HasPrefix(at, "watch") || strings.HasPrefix(at, "learn") || at == "secret" || at == "hold" {
				return nil
			}
			return context.Cause(ctx)
		default:
			panic("a bug at " + at)
		}
	})
	s := newSpec(t, KindIdle, api)
	s.Headers = []Field{{Name: "Authorization", From: Source{Env: "T"}}}
	o := playIdle(t, ctx, s, time.Minute, play.env) // reported exactly once
	play.desk.settled(t)                            // every token came back, none twice

	cut, detail := wantedCut(stage, what)
	if o.Cut != cut || !strings.Contains(o.CutDetail, detail) || (o.Problem != "") != (cut == CutInternal) {
		t.Errorf("%s at %s (%d): cut %q, %q, problem %q; want %q, %q", what, stage, index, o.Cut, o.CutDetail, o.Problem, cut, detail)
	}
	if o.Ended.IsZero() || o.Started.IsZero() || o.Hold != time.Minute || o.Target != "api" || o.Kind != KindIdle || o.Path.TCPEnds == "" {
		t.Errorf("%s at %s: %+v", what, stage, o)
	}
	if what == end && o.Ended.Sub(o.Started) > time.Minute {
		t.Errorf("%s at %s took %s", what, stage, o.Ended.Sub(o.Started))
	}
	for i, a := range o.Attempts {
		if a.Number != i+1 || a.Reason == ReasonCanceled || !slices.Contains(Reasons(), a.Reason) {
			t.Errorf("%s at %s: attempt %+v", what, stage, a)
		}
	}
	if what == refuse && strings.HasSuffix(stage, "control") {
		if got := fmt.Sprint(reasons(o)); got != "[ok eof]" || !strings.HasSuffix(o.Attempts[1].Detail, "; no control: full") {
			t.Errorf("refused at %s: %s, %q", stage, got, o.Attempts[1].Detail)
		}
	}
}

// wantedCut is how a rung ends that met that trouble.
func wantedCut(stage string, what trouble) (Cut, string) {
	switch {
	case what == blow:
		return CutInternal, "a bug at " + stage
	case what == refuse && stage == "hold":
		return CutSkipped, "no room"
	case what == refuse && strings.HasSuffix(stage, "control"):
		return "", "" // what was seen stands
	case what == refuse:
		return CutSkipped, "full"
	case stage == "watch done", stage == "learn control":
		return "", "" // it had ended
	}
	return CutCanceled, "the deadline"
}

// A bug of whoever is told must not be taken for the probe's, and reported to
// them again.
func TestDoneIsNotCalledAgain(t *testing.T) {
	calls := 0
	r := &rung{
		call: &call{spec: newSpec(t, KindIdle, api), env: newEnv(nil, &desk{t: t})},
		done: func(Observation) { calls++; panic("a bug of the runner's") },
	}
	defer func() {
		if got := recover(); got != "a bug of the runner's" || calls != 1 {
			t.Errorf("recovered %v after %d calls", got, calls)
		}
	}()
	func() {
		defer r.recover()
		r.finish(Observation{Attempts: []Attempt{{Reason: ReasonOK}}})
	}()
}
