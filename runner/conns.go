package runner

import (
	"context"
	"sync"
)

// conns are a target's open connections. How many there may be can change. Safe for
// concurrent use.
type conns struct {
	mu    sync.Mutex
	most  int
	open  int
	freed chan struct{} // closed when one more may be; nil: nobody waits
}

// take waits until one more may be open. The caller calls release when it is closed.
func (c *conns) take(ctx context.Context) (release func(), err error) {
	for {
		freed, ok := c.try()
		if ok {
			return sync.OnceFunc(c.give), nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try takes one, or returns what is closed when there may be one.
func (c *conns) try() (freed chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open < c.most {
		c.open++
		return nil, true
	}
	if c.freed == nil {
		c.freed = make(chan struct{})
	}
	return c.freed, false
}

func (c *conns) give() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	c.wake()
}

// limit changes how many there may be. Those that are open stay.
func (c *conns) limit(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most = most
	c.wake()
}

// wake lets all that wait look again. The lock is held.
func (c *conns) wake() {
	if c.freed != nil {
		close(c.freed)
		c.freed = nil
	}
}
