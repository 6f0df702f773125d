//go:build peers

package peers

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"perch.example/probes"
)

const (
	roundTrip = 50 * time.Millisecond
	apart     = 500 // how often each must be told right
)

// TestCrossedCloseAndEOFAreToldApart: over a path of 50 ms a close that crossed
// the request and a server that read it and closed look alike to a client. The
// acknowledgement tells them apart, under TLS too.
func TestCrossedCloseAndEOFAreToldApart(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, reason := range []probes.Reason{probes.ReasonCrossedClose, probes.ReasonEOF} {
			t.Run(fmt.Sprintf("%s/tls=%t", reason, secure), func(t *testing.T) {
				t.Parallel()
				tellApart(t, reason, secure)
			})
		}
	}
}

func tellApart(t *testing.T, reason probes.Reason, secure bool) {
	t.Helper()
	link := Delay(t, roundTrip)
	const idle = 600 * time.Millisecond
	cert := newCertificate(t, t.TempDir(), link.ServerIP())
	address := serveEnding(t, link, secured(t, cert, secure), idle, reason)
	scheme := "http"
	if secure {
		scheme = "https"
	}
	spec := newSpec(t, probes.KindIdle, scheme+"://"+address+"/")
	if secure {
		spec.TLS.CAFile = cert.caFile
	}
	env := newEnv()
	env.Dial = link.Dial
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	capture := link.Capture(uint16(number))
	// The FIN leaves the server `idle` after its answer and comes `idle` after
	// the answer came. Half a round trip before that the two cross in the middle.
	hold := idle - roundTrip/2
	if reason == probes.ReasonEOF {
		hold = idle / 2
	}
	right := 0
	for tries := 0; right < apart && tries < 6*apart; tries += atOnce {
		for _, o := range holdMany(t.Context(), spec, env, slices.Repeat([]time.Duration{hold}, atOnce)) {
			a := decided(o)
			truth := whatHappened(capture.Ending(t, a.Local.Port()))
			if a.Reason != truth {
				t.Errorf("perch says %s, the capture %s: %s", a.Reason, truth, a.Detail)
			}
			if truth == reason {
				right++
			}
		}
	}
	t.Logf("%d times %s", right, reason)
	if right < apart {
		t.Errorf("only %d of the closes were of the kind to be told, want %d: is the machine too busy to meet them?", right, apart)
	}
}

// whatHappened reads the truth off the packets: on a busy machine a hold may
// wake after the FIN that it was to cross.
func whatHappened(e Ending) probes.Reason {
	switch {
	case e.FIN.IsZero():
		return probes.ReasonReset
	case !e.Asked:
		return probes.ReasonIdleFIN
	case e.Crossed:
		return probes.ReasonCrossedClose
	}
	return probes.ReasonEOF
}

// serveEnding answers the first request of a connection. Then it either reads
// the next and closes (eof), or closes when idle for that long (crossed).
func serveEnding(t *testing.T, link *Link, over *tls.Config, idle time.Duration, reason probes.Reason) string {
	t.Helper()
	ln, err := link.Listen("tcp", link.ServerIP()+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	address := ln.Addr().String()
	if over != nil {
		ln = tls.NewListener(ln, over)
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) || err != nil {
				return
			}
			go endConnection(conn, idle, reason)
		}
	}()
	return address
}

// secured is a server's TLS, or nil for a plain one.
func secured(t *testing.T, cert certificate, secure bool) *tls.Config {
	t.Helper()
	if !secure {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert.file, cert.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

func endConnection(conn net.Conn, idle time.Duration, reason probes.Reason) {
	defer func() { _ = bare(conn).Close() }() // FIN alone: close_notify would give the game away
	r := bufio.NewReader(conn)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); err != nil {
		return
	}
	if reason == probes.ReasonEOF {
		_, _ = http.ReadRequest(r)
		return
	}
	time.Sleep(idle)
}

func bare(conn net.Conn) net.Conn {
	if t, ok := conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return conn
}
