package main

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/state"
)

// However long the state cannot be saved, and whenever perch is killed: a counter never
// goes back. While it stands still, perch says that something is wrong.
func TestServeShowsNoCounterThatMayGoBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := many(2, 10*time.Second)
		s := newStation(t, text)
		r := rand.New(rand.NewPCG(1, 2))
		shown := func(of string) float64 {
			t.Helper()
			_, body := s.get("/metrics")
			found := regexp.MustCompile(`(?m)^` + of + `\{.*\} (.*)$`).FindStringSubmatch(body)
			if found == nil {
				t.Fatalf("no %s in\n%s", of, body)
			}
			n, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		var kept state.Document
		var last float64
		for round := range 8 {
			store := &shelf{doc: kept}
			s.prepare(text, store)
			s.begin()
			for range 30 + r.IntN(60) {
				if time.Sleep(time.Second); r.IntN(20) == 0 {
					store.failing([]error{nil, errBroken}[r.IntN(2)])
				}
				now := shown("perch_requests_total")
				if now < last {
					t.Fatalf("round %d: a counter went from %v back to %v", round, last, now)
				}
				last = now
			}
			store.failing(errBroken)
			synctest.Wait()
			last = shown("perch_requests_total")
			time.Sleep(2 * time.Minute)
			if now := shown("perch_requests_total"); now != last {
				t.Errorf("%v more were shown than are saved", now-last)
			}
			_, body := s.get("/metrics")
			want(t, "/metrics", body, `perch_problems_total{part="state"`)
			synctest.Wait()
			store.mu.Lock()
			kept = store.doc // as a kill leaves it
			store.mu.Unlock()
			if round%2 == 0 {
				store.failing(nil)
				time.Sleep(20 * time.Second)
				if now := shown("perch_requests_total"); now < last+10 {
					t.Errorf("%v once it could be saved, and %v before", now, last)
				}
				store.mu.Lock()
				kept = store.doc
				store.mu.Unlock()
				last = shown("perch_requests_total")
				store.failing(errBroken)
			}
			_ = s.stop() // what is killed says nothing
		}
	})
}
