package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"perch.example/config"
)

// Bounds of the server: it is reached by whoever reaches the Pod. The kubelet
// closes its connections; a Prometheus opens one anew for each scrape, rather
// than that one ends just when it is used: clientIdle is nobody's scrape interval.
const (
	mostClients  = 64
	mostScrapes  = 4 // two Prometheus, and somebody who looks
	headWithin   = 5 * time.Second
	readWithin   = 10 * time.Second
	answerWithin = 10 * time.Second
	clientIdle   = 7 * time.Second
	mostHead     = 16 << 10
	drainWithin  = 500 * time.Millisecond
	scrapeAgain  = "5" // seconds
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
		return nil, listenError(s.cfg, err)
	}
	clients := newRoom(l, mostClients)
	w := &web{listener: l, done: make(chan struct{}), server: &http.Server{
		Handler: s.handler(), ConnState: clients.note, ReadHeaderTimeout: headWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: clientIdle, MaxHeaderBytes: mostHead, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}}
	go func() {
		defer close(w.done)
		if err := w.server.Serve(clients); !errors.Is(err, http.ErrServerClosed) {
			s.end(&webError{err})
		}
	}()
	return w, nil
}

// listenError says where the address is written, and of a port that is taken what to do.
func listenError(cfg config.Config, err error) error {
	const what = "listening on metrics.listen"
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: choose another port there, such as metrics: {listen: \":9878\"}, or end what has this one (another perch serve?)", err)
	}
	if at := cfg.WrittenAt("metrics.listen"); at != "" {
		return fmt.Errorf("%s: %s: %w", at, what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
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
	mux.Handle("GET /{$}", s.looks())
	mux.Handle("GET /metrics", &scrapes{metrics: s.metrics, places: make(chan struct{}, mostScrapes), making: make(turn, 1)})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.health.stuck(time.Now())) })
	mux.HandleFunc("GET /readyz", s.readyz)
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

// scrapes answers few at once. To make an answer takes all series in memory, so
// one is made at a time, and those who read slowly keep no more than its bytes.
type scrapes struct {
	metrics http.HandlerFunc
	places  chan struct{}
	making  turn
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		w.Header().Set("Retry-After", scrapeAgain)
		answer(w, fmt.Sprintf("%d scrapes are under way, which is what perch answers at once", mostScrapes))
		return
	}
	made := &page{ResponseWriter: w, status: http.StatusOK}
	s.make(made, r)
	w.WriteHeader(made.status)
	_, _ = w.Write(made.body.Bytes()) // who went away asks again
}

func (s *scrapes) make(w *page, r *http.Request) {
	s.making.take()
	defer s.making.give()
	s.metrics(w, r)
}

// page is an answer that is not on its way yet. Its header is the answer's.
type page struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (p *page) WriteHeader(status int) { p.status = status }

func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }
