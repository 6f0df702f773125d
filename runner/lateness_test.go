package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
)

// However long a run is, its samples are bounded, and the newest stay.
func TestLatenessIsBounded(t *testing.T) {
	for d, want := range map[time.Duration]int{
		50 * time.Millisecond: 0, 1050 * time.Millisecond: 10, 2 * time.Hour: lateSamples,
	} {
		synctest.Test(t, func(t *testing.T) {
			l := watchLateness(t.Context(), nil)
			time.Sleep(d)
			samples := l.stop()
			if len(samples) != want || cap(samples) > 2*lateSamples {
				t.Errorf("%d samples (room for %d) after %s, want %d", len(samples), cap(samples), d, want)
			}
			for _, s := range samples {
				if s != 0 { // in a bubble nobody is late
					t.Errorf("a sample of %s", s)
				}
			}
		})
	}
}

// A run that ends early stops sampling, and keeps what there was.
func TestLatenessEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := watchLateness(ctx, nil)
		time.Sleep(1050 * time.Millisecond)
		cancel()
		time.Sleep(time.Hour)
		if n := len(l.stop()); n != 10 {
			t.Errorf("%d samples", n)
		}
	})
}

// The ring overwrites its oldest sample.
func TestRing(t *testing.T) {
	var r ring
	for i := range lateSamples + 3 {
		r.add(time.Duration(i))
	}
	if len(r.samples) != lateSamples || r.samples[0] != lateSamples || r.samples[2] != lateSamples+2 || r.samples[3] != 3 {
		t.Errorf("%d samples, the first are %v", len(r.samples), r.samples[:4])
	}
}

func TestSecretCache(t *testing.T) {
	reads := map[probes.Source]int{}
	fail := true
	c := newSecretCache(func(s probes.Source) (probes.Secret, error) {
		reads[s]++
		if fail {
			return probes.Secret{}, errors.New("not there yet")
		}
		return probes.NewSecret(s.String()), nil
	})
	a, b := probes.Source{Env: "A"}, probes.Source{File: "/a"}
	for range 2 { // a failure is not kept
		if _, err := c.read(a); err == nil || err.Error() != "not there yet" {
			t.Errorf("read %v", err)
		}
	}
	fail = false
	for range 3 {
		for _, s := range []probes.Source{a, b} {
			if got, err := c.read(s); err != nil || got.Reveal() != s.String() {
				t.Errorf("%s: %q, %v", s, got.Reveal(), err)
			}
		}
	}
	if reads[a] != 3 || reads[b] != 1 {
		t.Errorf("read %v", reads)
	}
	c.forget()
	if _, err := c.read(b); err != nil || reads[b] != 2 {
		t.Errorf("after forgetting: read %v, %v", reads, err)
	}
}
