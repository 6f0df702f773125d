package probes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"perch.example/probes/wire"
)

// pool holds the connections of a burst probe.
type pool struct {
	order  PoolOrder
	idle   []*pooled // the one that was used last stands last
	open   int       // idle, in use, or being opened
	opened int       // so far
}

// pooled is an idle connection of a pool, which a goroutine watches.
type pooled struct {
	conn    *wire.Conn
	release func()
	number  int // among those that the pool opened
	cut     context.CancelFunc
	held    chan wire.Held
}

// next takes out the connection that a client of that order would use; nil: none is
// idle.
func (p *pool) next() *pooled {
	if len(p.idle) == 0 {
		return nil
	}
	i := len(p.idle) - 1
	switch p.order {
	case PoolFIFO:
		i = 0
	case PoolOldest:
		oldest := slices.MinFunc(p.idle, func(x, y *pooled) int { return cmp.Compare(x.number, y.number) })
		i = slices.Index(p.idle, oldest)
	case PoolLIFO:
	}
	one := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	return one
}

// draw ends a connection's idleness. What was seen until then stays on the connection,
// for its next exchange.
func (p *pooled) draw() wire.Held {
	p.cut()
	return <-p.held
}

// take gives a call its connection; nil and true: it opens one, for which there is room
// now.
func (b *burst) take() (p *pooled, room bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pool.next(); p != nil {
		return p, false
	}
	if b.pool.open >= b.shape.Connections {
		return nil, false
	}
	b.pool.open++
	return nil, true
}

// number counts the connections that were opened.
func (b *burst) number() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pool.opened++
	return b.pool.opened
}

// keep puts a connection into the pool, if it can be used again.
func (b *burst) keep(number int, x *exchanged) {
	a := x.attempt
	if x.conn == nil || a.Status == 0 || a.CloseAfter {
		b.drop(x)
		return
	}
	p := &pooled{conn: x.conn, release: x.release, number: number, held: make(chan wire.Held, 1)}
	ctx, cut := context.WithCancel(b.ctx)
	p.cut = cut
	go p.watch(ctx, b)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pool.idle = append(b.pool.idle, p)
	b.wake()
}

// longestIdle is longer than any step lasts: what ends an idle connection's watch is the
// call that takes it, or the step's end.
const longestIdle = 30 * 24 * time.Hour

// watch keeps what an idle connection shows until it is taken.
func (p *pooled) watch(ctx context.Context, b *burst) {
	held := wire.Held{Canceled: true}
	defer func() {
		if broken := recover(); broken != nil {
			b.breaks(broken)
		}
		p.held <- held
	}()
	held = p.conn.Hold(ctx, time.Now().Add(longestIdle), false)
}

// drop closes a connection, and makes room for another one in the pool.
func (b *burst) drop(x *exchanged) {
	x.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pool.open--
	b.wake()
}

// close ends what idles.
func (b *burst) close() {
	b.cancel()
	b.calls.Wait() // where a bug panics
	b.mu.Lock()
	idle := b.pool.idle
	b.pool.idle = nil
	b.mu.Unlock()
	for _, p := range idle {
		p.draw()
		x := exchanged{conn: p.conn, release: p.release}
		x.close()
	}
}
