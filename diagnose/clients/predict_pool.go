package clients

import (
	"container/heap"

	"perch.example/probes"
)

// idleConnections are those of a pool that nobody uses.
type idleConnections interface {
	put(c pooled)
	// take removes the next one by the pool's order; false: there is none.
	take() (pooled, bool)
}

func newIdleOf(order probes.PoolOrder) idleConnections {
	switch order {
	case probes.PoolFIFO:
		return &idleQueue{}
	case probes.PoolOldest:
		return &idleOldest{}
	case probes.PoolLIFO:
	}
	return &idleStack{}
}

// idleStack hands out the one that was used last.
type idleStack []pooled

func (s *idleStack) put(c pooled) { *s = append(*s, c) }

func (s *idleStack) take() (pooled, bool) {
	last := len(*s) - 1
	if last < 0 {
		return pooled{}, false
	}
	c := (*s)[last]
	*s = (*s)[:last]
	return c, true
}

// idleQueue hands out the one that has been idle for longest.
type idleQueue struct {
	all   []pooled
	taken int // of the front of all
}

func (q *idleQueue) put(c pooled) { q.all = append(q.all, c) }

func (q *idleQueue) take() (pooled, bool) {
	if q.taken == len(q.all) {
		return pooled{}, false
	}
	c := q.all[q.taken]
	q.taken++
	if q.taken*2 >= len(q.all) { // what was taken is at most as much as what is left
		q.all, q.taken = append(q.all[:0], q.all[q.taken:]...), 0
	}
	return c, true
}

// idleOldest hands out the one that was opened first.
type idleOldest struct{ byNumber numberHeap }

func (o *idleOldest) put(c pooled) { heap.Push(&o.byNumber, c) }

func (o *idleOldest) take() (pooled, bool) {
	if len(o.byNumber) == 0 {
		return pooled{}, false
	}
	return popped[pooled](&o.byNumber), true
}

// popped is the heap's least.
func popped[T any](h heap.Interface) T {
	least, _ := heap.Pop(h).(T)
	return least
}

type numberHeap []pooled

func (h numberHeap) Len() int           { return len(h) }
func (h numberHeap) Less(i, j int) bool { return h[i].number < h[j].number }
func (h numberHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *numberHeap) Push(c any)        { *h = append(*h, c.(pooled)) } //nolint:forcetypeassert // nothing else is pushed
func (h *numberHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}

// busyHeap are the connections in use, by when they are given back; of those at one
// moment the one that was opened first comes first.
type busyHeap []pooled

func (h *busyHeap) push(c pooled) { heap.Push((*timeHeap)(h), c) }
func (h *busyHeap) pop() pooled   { return popped[pooled]((*timeHeap)(h)) }

type timeHeap busyHeap

func (h timeHeap) Len() int { return len(h) }
func (h timeHeap) Less(i, j int) bool {
	return h[i].since < h[j].since || h[i].since == h[j].since && h[i].number < h[j].number
}
func (h timeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timeHeap) Push(c any)   { *h = append(*h, c.(pooled)) } //nolint:forcetypeassert // nothing else is pushed
func (h *timeHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
