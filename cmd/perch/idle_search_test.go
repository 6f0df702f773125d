package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// forgetful answers on each connection until one was idle for longer than bound:
// that it resets once a request comes, as a NAT does with what it has forgotten.
func forgetful(t *testing.T, bound time.Duration) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go answerUntil(conn.(*net.TCPConn), bound)
		}
	}()
	return "http://" + ln.Addr().String()
}

func answerUntil(conn *net.TCPConn, bound time.Duration) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	var idle time.Time // since when; zero: nothing was answered yet
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		if !idle.IsZero() && time.Since(idle) > bound {
			_ = conn.SetLinger(0)
			return
		}
		if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
			return
		}
		idle = time.Now()
	}
}

type idleReport struct {
	Outcomes []struct{ Reason string }
	Idle     []struct {
		Survived float64 `json:"survived_seconds"`
		Died     float64 `json:"died_seconds"`
		Measured float64 `json:"measured_seconds"`
		How      string
	}
	Budget []struct{ Requests int }
}

// TestIdleLooksCloser: an end that nobody sees is bracketed round by round, by
// few holds, and those that could tell nothing more are given up.
func TestIdleLooksCloser(t *testing.T) {
	t.Parallel()
	const bound = 450 * time.Millisecond
	url := forgetful(t, bound)
	calmly(t, func() string { return looksCloser(t, url, bound) })
}

// looksCloser says what perch idle finds that is not so.
func looksCloser(t *testing.T, url string, bound time.Duration) (problem string) {
	t.Helper()
	began := time.Now()
	r := perch(t.Context(), nil, "idle", url, "--max", "30s", "--connections", "6", "--rate", "100/s", "--output", "json")
	var got idleReport
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got.Idle) != 1 || len(got.Budget) != 1 {
		t.Fatalf("exit status %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	const slack = 0.1 // a busy machine's
	i := got.Idle[0]
	if i.Measured > 0 || i.How != "rst" || i.Survived > bound.Seconds()+slack || i.Died < bound.Seconds()-slack || i.Died-i.Survived > 0.1 {
		return fmt.Sprintf("%+v, want a bracket of 0.1 s around %s, rst", i, bound)
	}
	died := 0
	for _, o := range got.Outcomes {
		if o.Reason == "reset" {
			died++
		}
	}
	if n := len(got.Outcomes); n > 20 || got.Budget[0].Requests < 2*n+died {
		return fmt.Sprintf("%d holds, of which %d died, by %d requests", n, died, got.Budget[0].Requests)
	}
	if took := time.Since(began); took > 25*time.Second {
		return fmt.Sprintf("it took %s: holds that could tell nothing more were waited for", took)
	}
	return ""
}

// TestIdleSaysHowWellItKnows: the bracket, its width, and how the end came.
func TestIdleSaysHowWellItKnows(t *testing.T) {
	t.Parallel()
	url := forgetful(t, 450*time.Millisecond)
	calmly(t, func() string {
		r := perch(t.Context(), nil, "idle", url, "--max", "1s", "--connections", "3", "--rate", "100/s")
		return lacks("the report", flat(r.stdout)+" ", "idle connections die (RST) between ", "Known to within ", " nobody saw it before the request, which was answered with RST.")
	})
}

// TestIdleKeepsToItsTime: a search that the deadline cuts says what it has.
func TestIdleKeepsToItsTime(t *testing.T) {
	t.Parallel()
	url := forgetful(t, time.Second)
	calmly(t, func() string {
		r := perch(t.Context(), nil, "idle", url, "--max", "2s", "--connections", "2", "--rate", "100/s", "--deadline", "4s")
		if r.code != exitOK {
			return fmt.Sprintf("exit status %d:\n%s%s", r.code, r.stdout, r.stderr)
		}
		return cmp.Or(lacks("the report", r.stdout, "idle connections die (RST) between "), lacks("the log", r.stderr, "another round does not fit"))
	})
}
