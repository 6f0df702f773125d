package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds of the server: it is reached by whoever reaches the Pod.
const (
	mostClients  = 64
	headWithin   = 5 * time.Second
	readWithin   = 10 * time.Second
	answerWithin = 30 * time.Second
	clientIdle   = 90 * time.Second
	mostHead     = 16 << 10
	drainWithin  = 500 * time.Millisecond
)

// webError says that the server for scrapes is gone.
type webError struct{ err error }

func (e *webError) Error() string { return "answering on metrics.listen: " + e.err.Error() }

func (e *webError) Unwrap() error { return e.err }

// web is the server for scrapes and probes of the kubelet.
type web struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}
}

// listen answers from now on. A port that is taken is an error.
func (s *service) listen() (*web, error) {
	listen := s.sys.listen
	if listen == nil {
		listen = net.Listen
	}
	l, err := listen("tcp", s.cfg.Metrics.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening on metrics.listen: %w", err)
	}
	w := &web{listener: l, done: make(chan struct{}), server: &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: clientIdle, MaxHeaderBytes: mostHead, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}}
	go func() {
		defer close(w.done)
		if err := w.server.Serve(bounded(l, mostClients)); !errors.Is(err, http.ErrServerClosed) {
			s.end(&webError{err})
		}
	}()
	return w, nil
}

func (w *web) address() string { return w.listener.Addr().String() }

// close lets answers under way end, for a moment.
func (w *web) close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close() // who is cut off asks again
	}
	<-w.done
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.health.stuck(time.Now())) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.health.unready()) })
	return mux
}

// answer is 200, or 503 and why.
func answer(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if why == "" {
		_, _ = io.WriteString(w, "ok\n") // who went away asks again
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, why+"\n")
}

// metrics answers once there is something to answer with: what earlier runs
// counted is in the state.
func (s *service) metrics(w http.ResponseWriter, r *http.Request) {
	scrape := s.scrape.Load()
	if scrape == nil {
		answer(w, s.health.unready())
		return
	}
	(*scrape).ServeHTTP(w, r)
}

// room is a listener that has few connections open at once.
type room struct {
	net.Listener
	free chan struct{}
	once sync.Once
	done chan struct{}
}

func bounded(l net.Listener, most int) net.Listener {
	return &room{Listener: l, free: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept waits until there is room for one more.
func (r *room) Accept() (net.Conn, error) {
	select {
	case r.free <- struct{}{}:
	case <-r.done:
		return nil, net.ErrClosed
	}
	c, err := r.Listener.Accept()
	if err != nil {
		<-r.free
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-r.free })}, nil
}

// Close ends the waiting, too.
func (r *room) Close() error {
	r.once.Do(func() { close(r.done) })
	return r.Listener.Close()
}

type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}
