//go:build linux

package wire_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"perch.example/internal/waiting"
)

// The server of a benchmark is this test binary again, so that neither its
// memory nor its processor time is in the measurement.

// serverEnv makes the test binary a server: "plain" or "tls", or of HTTP/2 "h2c"
// or "h2".
const serverEnv = "WIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverEnv); kind != "" {
		if err := serveForever(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	waiting.Beside(8)
	os.Exit(m.Run())
}

// serveForever prints its port and authority, and answers until its input ends.
func serveForever(kind string) error {
	a, err := newAuthority()
	if err != nil {
		return err
	}
	config, err := a.newLeaf(nil)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	fmt.Println(port, base64.StdEncoding.EncodeToString(a.ca.Raw))
	switch kind {
	case "tls":
		l = tls.NewListener(l, config)
	case "h2", "h2c":
		go func() { _ = serveStreams(l, config, kind == "h2") }()
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerAll(c)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// serveStreams is Go's own server of HTTP/2, with the headers that an API sends.
func serveStreams(l net.Listener, config *tls.Config, secure bool) error {
	s := &http.Server{Protocols: &http.Protocols{}, TLSConfig: config, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Request-Id", "0192f0c1-6c8e-7d4f-9a51-3f1d2f6c7b10")
		w.Header().Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
		_, _ = io.WriteString(w, "hi")
	})}
	if secure {
		s.Protocols.SetHTTP2(true)
		return s.ServeTLS(l, "", "")
	}
	s.Protocols.SetUnencryptedHTTP2(true)
	return s.Serve(l)
}

func answerAll(c net.Conn) {
	defer func() { _ = c.Close() }()
	br := bufio.NewReader(c)
	for {
		if _, err := http.ReadRequest(br); err != nil {
			return
		}
		if _, err := io.WriteString(c, whole); err != nil {
			return
		}
	}
}

// elsewhere starts such a server and returns its port and, for TLS, how to
// speak to it.
func elsewhere(b *testing.B, kind string) (port string, client *tls.Config) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"="+kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	port, encoded, _ := strings.Cut(strings.TrimSpace(line), " ")
	if kind == "plain" || kind == "h2c" {
		return port, nil
	}
	der, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		b.Fatal(err)
	}
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		b.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	alpn := "http/1.1"
	if kind == "h2" {
		alpn = "h2"
	}
	return port, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", NextProtos: []string{alpn}, MinVersion: tls.VersionTLS12}
}
