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
)

// The server of a benchmark is this test binary again, so that neither its
// memory nor its processor time is in the measurement.

// serverEnv makes the test binary a server: "plain" or "tls".
const serverEnv = "WIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverEnv); kind != "" {
		if err := serveForever(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
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
	if kind == "tls" {
		l = tls.NewListener(l, config)
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
	if kind != "tls" {
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
	return port, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
}
