//go:build peers

package peers

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// relay ends TCP on the way, as a proxy or a mesh does: its kernel takes a
// connection and acknowledges bytes at once, whatever became of the far side.
type relay struct {
	ln       *net.TCPListener
	to       string        // the far side; empty: it is dead, and nobody is called
	delay    time.Duration // each way, of bytes and of the end alike
	diesIdle time.Duration // the far side of a connection that it answered on is dead once that was idle for so long; 0: never
	running  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// startRelay listens on loopback until the test ends.
func startRelay(t *testing.T, r *relay) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.ln = ln.(*net.TCPListener)
	r.running.Go(r.accept)
	t.Cleanup(func() {
		_ = r.ln.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.running.Wait()
	})
	return r
}

// host is the relay's own address.
func (r *relay) host() string { return r.ln.Addr().String() }

func (r *relay) accept() {
	for {
		near, err := r.ln.AcceptTCP()
		if err != nil {
			return
		}
		r.keep(near)
		r.running.Go(func() { r.serve(near) })
	}
}

func (r *relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
}

// serve carries one connection both ways until both have ended.
func (r *relay) serve(near *net.TCPConn) {
	defer func() { _ = near.Close() }()
	if r.to == "" {
		_, _ = io.Copy(io.Discard, near) // taken, acknowledged, and nobody there
		return
	}
	conn, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	far := conn.(*net.TCPConn)
	r.keep(far)
	defer func() { _ = far.Close() }()
	var last atomic.Int64 // when anything was carried; 0: no answer yet
	dead := func() bool {
		at := last.Load()
		return r.diesIdle > 0 && at > 0 && time.Since(time.Unix(0, at)) > r.diesIdle
	}
	var both sync.WaitGroup
	both.Go(func() {
		r.carry(near, far, dead, func() {
			if last.Load() > 0 {
				last.Store(time.Now().UnixNano())
			}
		})
	})
	both.Go(func() { r.carry(far, near, dead, func() { last.Store(time.Now().UnixNano()) }) })
	both.Wait()
}

// chunk is what was read at one time; nil: the end.
type chunk struct {
	bytes []byte
	due   time.Time
}

// carry moves what comes, delay later, and the end after it. What a dead far
// side would have to take, or would have sent, is read and goes nowhere; note is
// told of the rest.
func (r *relay) carry(from, to *net.TCPConn, dead func() bool, note func()) {
	line := make(chan chunk, 1024)
	var writer sync.WaitGroup
	writer.Go(func() {
		for c := range line {
			time.Sleep(time.Until(c.due))
			if c.bytes == nil {
				_ = to.CloseWrite()
			} else {
				_, _ = to.Write(c.bytes)
			}
		}
	})
	buffer := make([]byte, 32<<10)
	for buried := false; ; {
		n, err := from.Read(buffer)
		buried = buried || dead()
		if n > 0 && !buried {
			note()
			line <- chunk{append([]byte(nil), buffer[:n]...), time.Now().Add(r.delay)}
		}
		if err == nil {
			continue
		}
		if !buried {
			line <- chunk{nil, time.Now().Add(r.delay)}
		}
		break
	}
	close(line)
	writer.Wait()
}
