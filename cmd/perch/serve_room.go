package main

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// room is a listener that has few connections open at once. Whoever comes is let
// in: where there is no room, the one who has used it least lately has to go, an
// idle one first. So nobody who only keeps a connection, or is slow, is in the way
// of the kubelet, whose answer takes no time.
type room struct {
	net.Listener
	most int

	mu     sync.Mutex
	guests []*guest // who began a request last is last
}

func newRoom(l net.Listener, most int) *room { return &room{Listener: l, most: most} }

// guest is a connection in a room.
type guest struct {
	net.Conn
	room *room
	idle bool // between two requests
}

// Accept lets the next one in.
func (r *room) Accept() (net.Conn, error) {
	c, err := r.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: c, room: r}
	if out := r.enter(g); out != nil {
		_ = out.Close() // it asks again
	}
	return g, nil
}

// enter returns who has to go for it; nil: there is room.
func (r *room) enter(g *guest) (out *guest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.guests) >= r.most {
		i := max(0, slices.IndexFunc(r.guests, func(g *guest) bool { return g.idle }))
		out = r.guests[i]
		r.guests = slices.Delete(r.guests, i, i+1)
	}
	r.guests = append(r.guests, g)
	return out
}

// note is the server's ConnState.
func (r *room) note(c net.Conn, state http.ConnState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.guests, func(g *guest) bool { return g == c })
	if i < 0 {
		return // it had to go
	}
	g := r.guests[i]
	g.idle = state == http.StateIdle
	if state == http.StateActive {
		r.guests = append(slices.Delete(r.guests, i, i+1), g)
	}
}

// Close makes room.
func (g *guest) Close() error {
	g.room.leave(g)
	return g.Conn.Close()
}

func (r *room) leave(g *guest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guests = slices.DeleteFunc(r.guests, func(other *guest) bool { return other == g })
}
