//go:build soak

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const (
	reloadEvery = 10 * time.Second
	// perch sees a change within 4 s, by two looks. What comes from refusedBy on comes
	// by what it made of it; settledBy is when that is looked at.
	refusedBy = 6 * time.Second
	settledBy = 8 * time.Second

	refusedTitle = "CONFIG of perch soak refused"
	mendedTitle  = "CONFIG of perch soak: it is good again"
)

// reloaded is a perch and the config that changes under it.
type reloaded struct {
	perch  *listening
	config *mounted
}

// changingPath is what the target "changing" is asked for by the nth good config.
func changingPath(n int) string { return fmt.Sprintf("%schanging-%d", recorded, n) }

// reload changes the config as the kubelet does; at first, and then now and then, to one
// that is wrong. Each good one has other targets, and one target that is another. None
// follows before perch has taken the one before it, or refused it.
func (w *world) reload(ctx context.Context, t *testing.T, dice *rand.Rand, r *reloaded) {
	wrong := 0
	for pause(ctx, reloadEvery-settledBy) {
		good := wrong > 0 && dice.IntN(4) > 0
		if good {
			w.changed++
			r.config.change(t, w.config(dice.Perm(churned)[:dice.IntN(churned)]))
		} else {
			wrong++
			r.config.change(t, strings.Replace(w.config(nil), "every: 1s", "every: soon", 1))
		}
		put := time.Now()
		if !pause(ctx, settledBy) {
			break
		}
		await(t, "a changed config", func() error { return w.taken(t, r.perch, good, put) })
	}
	w.changed++
	r.config.change(t, w.config(nil))
	t.Logf("the config was changed to %d that are good, and %d that are wrong", w.changed, wrong)
}

// taken says what is missing until a config that was put there then is in use, or refused
// and the one before it goes on: by what perch requests, and by what its metric says.
func (w *world) taken(t *testing.T, perch *listening, good bool, put time.Time) error {
	want, from := 1.0, put
	if !good {
		want, from = 0, put.Add(refusedBy)
	}
	at := w.plain.came.of(changingPath(w.changed))
	if len(at) == 0 || at[len(at)-1].Before(from) {
		return fmt.Errorf("no request for %s since %s", changingPath(w.changed), from.Format("15:04:05"))
	}
	return successful(scrape(t, perch.address), want)
}

// successful holds what perch says of its last reload against what it is.
func successful(all series, want float64) error {
	found := false
	for name, value := range all {
		if !strings.HasPrefix(name, "perch_config_last_reload_successful{") {
			continue
		}
		if found = true; value != want {
			return fmt.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	if !found {
		return errors.New("no series perch_config_last_reload_successful")
	}
	return nil
}

// checkReloads: the last config is in use, none was in use beside the next one, and Slack,
// which works now, was told of one that was refused, and that it was mended.
func (w *world) checkReloads(t *testing.T, perch *listening) {
	t.Helper()
	await(t, "the last config", func() error { return w.taken(t, perch, true, time.Time{}) })
	for n := range w.changed {
		before, after := w.plain.came.of(changingPath(n)), w.plain.came.of(changingPath(n+1))
		if len(before) == 0 || len(after) == 0 {
			continue // the one before the last may have been replaced at once
		}
		if late := before[len(before)-1].Sub(after[0]); late > time.Second { // what is cut off may be read late
			t.Errorf("%s was requested %s after %s was: a target that is another now is still probed as it was", changingPath(n), late, changingPath(n+1))
		}
	}
	for _, title := range []string{refusedTitle, mendedTitle} {
		await(t, "Slack to be told: "+title, func() error { return w.told(title) })
	}
}

func (w *world) told(title string) error {
	all := w.slack.Messages()
	for _, m := range all {
		if strings.HasPrefix(m.Title(), title) {
			return nil
		}
	}
	return fmt.Errorf("none of %d messages is so", len(all))
}
