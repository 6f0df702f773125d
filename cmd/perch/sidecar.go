package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"perch.example/k8s"
)

const (
	readyEvery = 250 * time.Millisecond // what is not ready within k8s.SidecarWait is broken, and the next run will see
	// sidecarWithin bounds one question to it, on loopback.
	sidecarWithin = 2 * time.Second
)

// sidecar is a mesh's proxy in perch's own Pod: without it nothing leaves, and a
// Job does not end before it does. The zero value is none.
type sidecar struct {
	waitFor string
	quit    string
	web     http.RoundTripper // nil: the network, and of that only loopback
}

func (s *sidecar) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.waitFor, "wait-for", "", "send nothing before this `URL` of a sidecar, on loopback, answers 200; 30s at most")
	cmd.Flags().StringVar(&s.quit, "quit", "", "POST to this `URL` of a sidecar, on loopback, when all is done, so that a Job ends")
}

// check refuses URLs that could mean anything but a sidecar.
func (s *sidecar) check() error {
	return errors.Join(onLoopback("--wait-for", s.waitFor), onLoopback("--quit", s.quit))
}

func onLoopback(flag, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || !isPort(u.Port()) {
		return fmt.Errorf("%s: want a sidecar's URL such as http://127.0.0.1:15021/healthz/ready", flag)
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if !strings.EqualFold(u.Hostname(), "localhost") && (err != nil || !addr.Unmap().IsLoopback()) {
		return fmt.Errorf("%s: a sidecar is in perch's own Pod, on loopback; want http://127.0.0.1:PORT/... or localhost", flag)
	}
	return nil
}

// isPort reports whether something can listen there: url.Parse takes any digits.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// ready waits until the sidecar answers 200. Its error says why it was not waited
// for any longer; nothing may be sent then.
func (s *sidecar) ready(ctx context.Context, log *slog.Logger) error {
	if s.waitFor == "" {
		return nil
	}
	began := time.Now()
	for {
		err := s.ask(ctx, http.MethodGet, s.waitFor)
		took := time.Since(began)
		switch {
		case err == nil:
			log.Info("the sidecar is ready", "took", took.Round(time.Millisecond))
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for the sidecar: %w", context.Cause(ctx))
		case took+readyEvery > k8s.SidecarWait:
			return fmt.Errorf("the sidecar was not ready within %s (%w)", k8s.SidecarWait, err)
		}
		until(ctx, time.Now().Add(readyEvery))
	}
}

// end tells the sidecar to end, whatever has happened before. One that does not
// answer is only said: what perch had to do is done.
func (s *sidecar) end(ctx context.Context, log *slog.Logger) {
	if s.quit == "" {
		return
	}
	if err := s.ask(context.WithoutCancel(ctx), http.MethodPost, s.quit); err != nil {
		log.Warn("the sidecar does not end; a Job's Pod stays until its deadline", "error", err)
	}
}

// ask sends one request and wants a 2xx for it. No proxy of the environment is
// used, no redirect followed.
func (s *sidecar) ask(ctx context.Context, method, to string) error {
	ctx, cancel := context.WithTimeout(ctx, sidecarWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, to, nil)
	if err != nil {
		return err
	}
	web := s.web
	if web == nil {
		web = loopbackOnly()
	}
	a, err := web.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("asking %s: %w", to, err)
	}
	defer func() { _ = a.Body.Close() }()
	_, _ = io.CopyN(io.Discard, a.Body, 1<<16) // what it says does not matter
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("asking %s: status %d, want 200", to, a.StatusCode)
	}
	return nil
}

// loopbackOnly connects to nothing but loopback, whatever a name resolves to.
func loopbackOnly() http.RoundTripper {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !to.Addr().Unmap().IsLoopback() {
			return fmt.Errorf("%s is not on loopback, where a sidecar is", address)
		}
		return nil
	}}
	return &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
}
