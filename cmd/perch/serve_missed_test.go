package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// missed is what /metrics says of one target's ticks that fell out.
func (s *station) missed(target string) int {
	s.t.Helper()
	_, body := s.get("/metrics")
	found := regexp.MustCompile(`(?m)^perch_ticks_missed_total\{.*target="` + target + `".*\} (.*)$`).FindStringSubmatch(body)
	if found == nil {
		s.t.Fatalf("of %s nothing is counted:\n%s", target, body)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Ticks that fall out are counted from zero, which is there before the first does; a
// reload and a restart leave the count, and none goes back that the state does not have.
func TestServeCountsTicksThatFallOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, store := many(2, 2*time.Second), &shelf{}
		s, m := reloaded(t, text, store)
		s.begin()
		time.Sleep(10 * time.Second)
		if slow, well := s.missed("api-0"), s.missed("api-1"); slow != 0 || well != 0 {
			t.Errorf("%d and %d fell out, though each wave ended in time", slow, well)
		}
		s.mu.Lock()
		s.slows = map[string]time.Duration{"/0": 4500 * time.Millisecond} // two fall out of three
		s.mu.Unlock()
		time.Sleep(time.Minute)
		before := s.missed("api-0")
		if before < 12 || before > 20 || before%2 != 0 || s.missed("api-1") != 0 {
			t.Errorf("%d and %d fell out in a minute, want two of three each 2 s, and none", before, s.missed("api-1"))
		}
		store.failing(errBroken)
		synctest.Wait()
		before = s.missed("api-0")
		time.Sleep(time.Minute)
		if now := s.missed("api-0"); now != before {
			t.Errorf("%d more are shown than are saved", now-before)
		}
		store.failing(nil)
		time.Sleep(20 * time.Second)
		if now := s.missed("api-0"); now < before+20 {
			t.Errorf("%d once it could be saved, and %d before", now, before)
		}
		before = s.missed("api-0")
		m.swap(strings.Replace(text, "response: 5s", "response: 6s", 1))
		time.Sleep(inUse)
		want(t, "the log", s.log.String(), "the changed config is in use")
		if now := s.missed("api-0"); now < before || now > before+10 {
			t.Errorf("%d after a reload, and %d before", now, before)
		}
		before = s.missed("api-0")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		s.slows = nil
		s.prepare(text, &shelf{doc: store.doc})
		s.begin()
		time.Sleep(15 * time.Second)
		if now := s.missed("api-0"); now < before || now > before+10 {
			t.Errorf("%d after a restart, and %d before", now, before)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What falls out of a lone probe's schedule is seen with the wave that made it so, once it
// is saved, and not with the wave after: there is no other whose run would bring it.
func TestServeShowsAtOnceWhatFellOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Replace(many(1, 10*time.Second), "response: 5s", "response: 2m", 1)
		s, store := newStation(t, text), &shelf{}
		s.prepare(text, store)
		s.slow = 62 * time.Second
		s.begin()
		for len(s.asked("/0")) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		s.wants("/metrics", 200, `perch_ticks_missed_total{perch="shop",probe="get",target="api-0",vantage="test"} 0`)
		store.failing(errBroken)
		time.Sleep(s.slow + time.Second)
		if n := len(s.asked("/0")); n != 1 {
			t.Fatalf("asked %d times within a wave", n)
		}
		synctest.Wait()
		want(t, "the log", s.log.String(), "ticks fell out", "missed=6 probes=1")
		if n := s.missed("api-0"); n != 0 {
			t.Errorf("%d are shown that are not saved", n)
		}
		store.failing(nil)
		time.Sleep(2 * savedEach)
		if n := s.missed("api-0"); n != 6 {
			t.Errorf("%d ticks are said to have fallen out of a wave of 62 s, each 10 s, want 6", n)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What falls out just while it is shown is shown with the next, once.
func TestWhatFallsOutMeanwhileIsCountedOnce(t *testing.T) {
	t.Parallel()
	p, _ := newPass(t, noted, &diary{})
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.serves, p.showMetrics = true, true
	p.metrics = p.newMetrics()
	s := newService(p.sys, p.cfg, p.flags, p.out, p.log)
	s.kept, s.stands = p.kept, true
	l := &loop{id: "api/get", spec: &p.cfg.Targets[0].Probes[0]}
	const rounds, each = 20, 1000 // few of them meet
	for range rounds {
		var falling sync.WaitGroup
		falling.Go(func() {
			for range each {
				s.fellOut(l, 1)
			}
		})
		for range each {
			s.showFellOut()
		}
		falling.Wait()
	}
	s.showFellOut()
	var text bytes.Buffer
	if err := p.metrics.Text(&text); err != nil {
		t.Fatal(err)
	}
	want(t, "the metrics", text.String(), fmt.Sprintf(`perch_ticks_missed_total{perch="noted",probe="get",target="api",vantage="test"} %d`+"\n", rounds*each))
}
