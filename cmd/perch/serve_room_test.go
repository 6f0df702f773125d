package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"perch.example/config"
)

// crowd is the server of a perch serve on a real port, whose /metrics answers with
// more than any socket holds, and its clients.
type crowd struct {
	t       *testing.T
	address string
	making  atomic.Int32 // answers that are being made now
	most    atomic.Int32 // of them at once
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{t: t}
	cfg := config.Config{Metrics: config.Metrics{Listen: "127.0.0.1:0"}}
	env := func(string) (string, bool) { return "", false }
	s := newService(system{env: env}, cfg, runFlags{}, outputFlags{}, slog.New(slog.DiscardHandler))
	var ctx context.Context
	ctx, s.end = context.WithCancelCause(context.Background())
	huge := bytes.Repeat([]byte("perch_up 1\n"), 700_000) // 8 MB
	var scrape http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := c.making.Add(1)
		defer c.making.Add(-1)
		c.most.Store(max(c.most.Load(), now))
		_, _ = w.Write(huge)
	})
	s.scrape.Store(&scrape)
	s.health.setReady()
	web, err := s.listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		web.close()
		if ctx.Err() != nil {
			t.Errorf("the server ended: %v", context.Cause(ctx))
		}
	})
	c.address = web.address()
	return c
}

// comes is a client that says something and then nothing more.
func (c *crowd) comes(says string) net.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, says); err != nil {
		c.t.Fatal(err)
	}
	return conn
}

func head(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: perch\r\n\r\n" }

// answered reads an answer's head and no more, so that the server has decided.
func (c *crowd) answered(conn net.Conn) (status string, again string) {
	c.t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	r := textproto.NewReader(bufio.NewReaderSize(conn, 16))
	line, err := r.ReadLine()
	if err != nil {
		c.t.Fatal(err)
	}
	header, err := r.ReadMIMEHeader()
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimPrefix(line, "HTTP/1.1 "), header.Get("Retry-After")
}

// healthy asks as the kubelet does: on a connection of its own. It waits longer than the
// kubelet would, for the machine may stand still for a second, and less long than any of
// the crowd may stay.
func (c *crowd) healthy(beside string) {
	c.t.Helper()
	client := &http.Client{Timeout: headWithin * 3 / 5, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/healthz", "/readyz"} {
		resp, err := client.Get("http://" + c.address + path)
		if err != nil {
			c.t.Errorf("%s beside %s: %v", path, beside, err)
			continue
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
			c.t.Errorf("%s beside %s: %d", path, beside, resp.StatusCode)
		}
	}
}

// Nobody who keeps connections is in the kubelet's way, whatever is done with them.
func TestHealthBesideACrowd(t *testing.T) {
	t.Parallel()
	const more = 3*mostClients + 1
	for name, comes := range map[string]func(*crowd){
		"idle clients":   func(c *crowd) { c.answered(c.comes(head("/healthz"))) },
		"silent clients": func(c *crowd) { c.comes("") },
		"half heads":     func(c *crowd) { c.comes("GET /metrics HTTP/1.1\r\nHos") },
		"slow readers":   func(c *crowd) { c.comes(head("/metrics")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t)
			for i := range more {
				if comes(c); i%mostClients == mostClients-1 {
					c.healthy(fmt.Sprintf("%d %s", i+1, name))
				}
			}
			c.healthy(name)
			if most := c.most.Load(); most > 1 {
				t.Errorf("%d answers were made at once", most)
			}
		})
	}
}

// Few read /metrics at once; whoever comes then is told when to come again, and is
// answered once one has left.
func TestFewScrapesAtOnce(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	var slow []net.Conn
	for range mostScrapes {
		conn := c.comes(head("/metrics"))
		if status, _ := c.answered(conn); status != "200 OK" {
			t.Fatalf("status %s", status)
		}
		slow = append(slow, conn)
	}
	if status, again := c.answered(c.comes(head("/metrics"))); status != "503 Service Unavailable" || again != scrapeAgain {
		t.Errorf("one too many: %s, come again after %q", status, again)
	}
	c.healthy("slow scrapes")
	_ = slow[0].Close()
	for began := time.Now(); ; {
		if status, _ := c.answered(c.comes(head("/metrics"))); status == "200 OK" {
			break
		}
		if time.Since(began) > 5*time.Second {
			t.Fatal("nobody is answered after one has left")
		}
	}
}

// Who is idle goes first, then who began a request longest ago; who leaves makes
// room once.
func TestWhoHasToGo(t *testing.T) {
	r := newRoom(nil, 3)
	made := func() *guest {
		c, other := net.Pipe()
		t.Cleanup(func() { _ = other.Close() })
		return &guest{Conn: c, room: r}
	}
	a, b, c := made(), made(), made()
	for _, g := range []*guest{a, b, c} {
		if out := r.enter(g); out != nil {
			t.Fatal("there was room")
		}
	}
	r.note(a, http.StateActive) // the newest now
	r.note(c, http.StateActive)
	r.note(c, http.StateIdle)
	d, e, f := made(), made(), made()
	for i, step := range []struct{ enters, goes *guest }{{d, c}, {e, b}, {f, a}} {
		if out := r.enter(step.enters); out != step.goes {
			t.Errorf("step %d: the wrong one has to go", i)
		}
	}
	r.note(a, http.StateActive) // it is gone
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if out := r.enter(made()); out != nil || len(r.guests) != 3 {
		t.Errorf("there was room: %d are in it", len(r.guests))
	}
}
