package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/state"
)

// What cannot be saved is not told; /readyz says so, probing goes on, and once it
// can be saved it is told.
func TestServeThatCannotSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		store.failing(errBroken)
		s.answers("/often", 404)
		time.Sleep(5 * time.Minute)
		s.wants("/readyz", 503, "the disk is broken")
		s.wants("/healthz", 200, "ok")
		s.wants("/metrics", 200, `perch_problems_total{part="state"`)
		if n := s.messages(); n != 0 {
			t.Errorf("%d messages of what nobody would remember", n)
		}
		if n := len(s.asked("/often")); n != 6 {
			t.Errorf("asked %d times in 6m30s", n)
		}
		store.failing(nil)
		time.Sleep(20 * time.Second)
		s.wants("/readyz", 200, "ok")
		if n := s.messages(); n != 1 {
			t.Errorf("%d messages once it could be saved", n)
		}
		store.failing(errBroken)
		if err := s.stop(); err != nil { // at rest: what was known is saved
			t.Errorf("ended with %v", err)
		}

		s.prepare(serving, store)
		s.begin()
		time.Sleep(2 * time.Minute)
		if err := s.stop(); codeOf(err) != exitOwn || !strings.Contains(err.Error(), "could not be saved") {
			t.Errorf("ended with %v, %d", err, codeOf(err))
		}
	})
}

// heldState is a config whose state another perch holds, and whose secret stands in
// the file hook.
func heldState(t *testing.T) (text, hook string, held *state.File) {
	t.Helper()
	dir := t.TempDir()
	hook = filepath.Join(dir, "hook")
	writeFile(t, hook, "https://slack.example/services/T/B/x")
	text = strings.NewReplacer("${DIR}", dir, "from: {env: HOOK}", `from: {file: "`+hook+`"}`).Replace(serving)
	held, err := state.OpenFile(filepath.Join(dir, "state"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return text, hook, held
}

// A secret that is gone while another perch has the state is waited for; one that is
// missing at the start is a mistake.
func TestServeWaitsForASecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, hook, held := heldState(t)
		s := newStation(t, text)
		s.begin()
		time.Sleep(time.Minute)
		s.wants("/readyz", 503, "another perch holds the state")
		if err := os.Remove(hook); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := held.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		s.wants("/readyz", 503, "a secret cannot be read: ")
		s.wants("/healthz", 200, "ok")
		if n := strings.Count(s.log.String(), "a secret cannot be read: waiting for it to be there"); n < 2 || n > 4 {
			t.Errorf("said %d times in two minutes", n)
		}
		writeFile(t, hook, "https://slack.example/services/T/B/x")
		time.Sleep(time.Minute)
		s.wants("/readyz", 200, "ok")
		if n := len(s.asked("/often")); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}

		if err := os.Remove(hook); err != nil {
			t.Fatal(err)
		}
		s.prepare(text, nil)
		s.begin()
		if err := <-s.result; codeOf(err) != exitUsage {
			t.Errorf("without its secret at the start it ended with %v", err)
		}
	})
}

// Told to stop while it waits for a secret, it ends well.
func TestServeStopsWhileASecretIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, hook, held := heldState(t)
		s := newStation(t, text)
		s.begin()
		time.Sleep(time.Minute)
		if err := os.Remove(hook); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		if err := s.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		if err := held.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// Another perch took the state: this one ends, tells nothing more, and says why.
func TestServeThatLostItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		s.answers("/often", 404)
		store.failing(&state.LostError{Lock: "lease shop/perch-state", Holder: "perch-2"})
		time.Sleep(time.Minute)
		select {
		case err := <-s.result:
			if codeOf(err) != exitOwn || !strings.Contains(err.Error(), "another perch has taken the state") || !strings.Contains(err.Error(), "perch-2") {
				t.Errorf("ended with %v", err)
			}
		default:
			t.Fatal("it goes on beside the other one")
		}
		if n := s.messages(); n != 0 {
			t.Errorf("%d messages after the turn was lost", n)
		}
	})
}

// A state that could not be seen for a while is no reason to end: nobody took it.
func TestServeWhoseTurnIsNotSure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		store.failing(&state.LostError{Lock: "lease shop/perch-state", Err: errBroken})
		time.Sleep(3 * time.Minute)
		s.wants("/readyz", 503, "the disk is broken")
		store.failing(nil)
		time.Sleep(time.Minute)
		s.wants("/readyz", 200, "ok")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Whenever it is killed, the state counts all that has left, and what was reserved is
// what the next minute may send: a kill must not give a request back. In the end it
// counts what left.
func TestServeReservesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		// A minute's ticks, a ladder, and what the last write before now reserved of ticks that are over.
		const most = 2 + 1 + 1 + 6 + 2
		for range 25 * 60 {
			time.Sleep(time.Second)
			synctest.Wait()
			hits := s.allAsked()
			if sent := store.sentToday("api", time.Now()); sent < hits || sent > hits+most {
				t.Fatalf("at %s the state says that %d requests left, want the %d that did and at most %d that still may", time.Now().UTC().Format(time.TimeOnly), sent, hits, most)
			}
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if sent, hits := store.sentToday("api", time.Now()), s.allAsked(); sent != hits {
			t.Errorf("at the end the state says that %d requests left, %d did", sent, hits)
		}
	})
}

// A state that hangs, or fails for long, delays nothing but a moment, once: /readyz says
// so, and probing goes on.
func TestServeThatCannotReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		s.wants("/readyz", 200, "ok")
		store.mu.Lock()
		store.hangs = true
		store.mu.Unlock()
		time.Sleep(10 * time.Minute)
		s.wants("/readyz", 503, "could not be saved")
		s.wants("/healthz", 200, "ok")
		often := s.asked("/often")
		for n := 2; n < len(often); n++ {
			if apart := often[n].Sub(often[n-1]); (apart - time.Minute).Abs() > reserveWithin {
				t.Errorf("asked for the %d. time after %s", n+1, apart)
			}
		}
		if len(often) < 11 {
			t.Errorf("asked %d times in 11m30s", len(often))
		}
		store.mu.Lock()
		store.hangs = false
		store.mu.Unlock()
		time.Sleep(time.Minute)
		s.wants("/readyz", 200, "ok")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Another perch holds the state: this one waits, and says so.
func TestServeWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.ReplaceAll(serving, "${DIR}", t.TempDir())
		path := text[strings.Index(text, `file: "`)+7:]
		path = path[:strings.Index(path, `"`)]
		held, err := state.OpenFile(path, state.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newStation(t, text)
		s.begin()
		time.Sleep(5 * time.Minute)
		s.wants("/readyz", 503, "another perch holds the state")
		s.wants("/healthz", 200, "ok")
		s.wants("/metrics", 503, "another perch holds the state")
		if n := strings.Count(s.log.String(), "waiting for it to end"); n < 3 || n > 6 {
			t.Errorf("said %d times in five minutes", n)
		}
		if err := held.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s.wants("/readyz", 200, "ok")
		if n := len(s.asked("/often")); n != 1 {
			t.Errorf("asked %d times", n)
		}

		// A silence that somebody adds beside it counts from the next run on.
		sys := s.service.sys
		mute := func(d *state.Document) error {
			all, err := silencesOf(*d)
			if err != nil {
				return err
			}
			all["x"] = silence{}
			one := all["x"]
			one.ID, one.Match, one.From, one.Until, one.Reason = "x", "api/*", time.Now(), time.Now().Add(time.Hour), "test"
			all["x"] = one
			return all.put(d, time.Time{})
		}
		if err := editState(t.Context(), sys, s.service.cfg, mute); err != nil {
			t.Fatal(err)
		}
		s.answers("/often", 404)
		time.Sleep(3 * time.Minute)
		if n := s.messages(); n != 0 {
			t.Errorf("%d messages of what is muted", n)
		}
		want(t, "the log", s.log.String(), "muted until")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if d, err := state.ReadFile(path); err != nil || !strings.Contains(string(d.Sections[sectionSilences]), "api/*") {
			t.Errorf("the state has lost the silence: %v, %s", err, d.Sections[sectionSilences])
		}
	})
}

// Told to stop while it waits for its turn, it ends well: there is nothing to save.
func TestServeStopsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.ReplaceAll(serving, "${DIR}", t.TempDir())
		path := text[strings.Index(text, `file: "`)+7:]
		held, err := state.OpenFile(path[:strings.Index(path, `"`)], state.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newStation(t, text)
		s.begin()
		time.Sleep(time.Minute)
		if err := s.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		if err := held.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// Told to stop while Slack hangs, it ends in time; what nobody is known to have
// read waits in the state.
func TestServeStopsWhileSlackHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.hangs = true
		s.answers("/often", 404)
		s.begin()
		for s.messages() == 0 {
			time.Sleep(time.Second)
		}
		time.Sleep(500 * time.Millisecond) // Slack was asked, and the ladder holds
		if err := s.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		if s.messages() == 0 || !strings.Contains(string(store.doc.Sections[sectionAlert]), "api/contract#1") || store.due()["api/often"].IsZero() {
			t.Errorf("%d messages; saved %s, due %v", s.messages(), store.doc.Sections[sectionAlert], store.doc.Due)
		}
		before := s.messages()
		s.hangs = false
		s.prepare(serving, store)
		s.begin()
		time.Sleep(2 * time.Minute)
		if s.messages() <= before {
			t.Error("what waited was not told after the restart")
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}
