//go:build peers

package wire_test

import (
	"sync"
	"testing"
)

// Every ending, 200 times, fresh and held in turn, many at once: none may be
// taken for another.
func TestEveryEnding(t *testing.T) {
	for _, f := range flavors(t) {
		for _, e := range afterRequest() {
			if e.want(f) == "" {
				continue
			}
			t.Run("after/"+f.name+"/"+e.name, func(t *testing.T) {
				often(t, func(i int) { afterOnce(t, f, e, i%2 == 1) })
			})
		}
		for _, e := range beforeRequest() {
			if e.want(f) == "" {
				continue
			}
			t.Run("before/"+f.name+"/"+e.name, func(t *testing.T) {
				often(t, func(i int) {
					if i%2 == 0 {
						beforeFresh(t, f, e.ending, e.fresh)
						return
					}
					beforeHeld(t, f, e.ending)
				})
			})
		}
	}
}

// stress says that these tests load the machine themselves.
const stress = true

// often runs f 200 times, 32 at once.
func often(t *testing.T, f func(i int)) {
	t.Parallel()
	var running sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range 200 {
		slots <- struct{}{}
		running.Go(func() { f(i); <-slots })
	}
	running.Wait()
}
