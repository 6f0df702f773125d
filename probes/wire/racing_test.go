package wire_test

import (
	"sync"
	"testing"
	"time"

	"perch.example/probes"
)

// racer is a server that closes at an instant, at about which the client
// writes. read says whether it had our request when it closed.
func racer(read chan<- bool) func(*peer) {
	return func(p *peer) {
		p.warm()
		_ = p.raw.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		read <- p.request()
		p.fin()
	}
}

// A reuse that races the idle timeout shows one of a known few reasons, and
// those that claim to know whether the server had the request are right.
func TestRacing(t *testing.T) {
	rounds(t, 40, func(t *testing.T, f flavor, i int) probes.Reason {
		read := make(chan bool, 1)
		s := serve(t, f.server, racer(read))
		c, _ := s.open(f.client)
		warmed(t, c)
		offset := time.Duration(i%21-10) * 100 * time.Microsecond
		c.Hold(t.Context(), time.Now().Add(10*time.Millisecond+offset), false)
		_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
		got, had := probes.Classify(e), <-read
		switch got {
		case probes.ReasonIdleFIN, probes.ReasonCrossedClose:
			if had {
				t.Errorf("%s, but the server had read the request\n%s", got, dump(e))
			}
		case probes.ReasonEOF:
			if !had {
				t.Errorf("%s, but the server had not read the request\n%s", got, dump(e))
			}
		case probes.ReasonReset: // says nothing of what was read
		default:
			t.Errorf("%s (%s)\n%s", got, probes.Explain(e), dump(e))
		}
		return got
	})
}

// rounds runs f many times, a few at once, for each flavor, and logs how often
// each reason came.
func rounds(t *testing.T, n int, f func(*testing.T, flavor, int) probes.Reason) {
	for _, fl := range flavors(t) {
		t.Run(fl.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[probes.Reason]int{}
			var running sync.WaitGroup
			slots := make(chan struct{}, 16)
			for i := range n {
				slots <- struct{}{}
				running.Go(func() {
					got := f(t, fl, i)
					mu.Lock()
					seen[got]++
					mu.Unlock()
					<-slots
				})
			}
			running.Wait()
			t.Log(seen)
		})
	}
}
