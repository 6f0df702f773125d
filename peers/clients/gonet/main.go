//go:build peers

// Command gonet runs Go's net/http against servers that misbehave and says what
// it made of it. Every line of the input is a job, every line of the output is
// JSON. It needs nothing but the standard library, so that a test can build it
// with an advised setting in place of its own.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// job is one line of the input.
type job struct {
	id, url, method string
	cold, h2        bool
	idle, timeout   time.Duration
}

func parse(line string) job {
	f := strings.Split(line, "\t")
	millis := func(s string) time.Duration {
		n, _ := strconv.Atoi(s)
		return time.Duration(n) * time.Millisecond
	}
	variants := strings.Split(f[2], ",")
	return job{id: f[0], cold: slices.Contains(variants, "cold"), h2: slices.Contains(variants, "h2"), url: f[3], method: f[4], idle: millis(f[5]), timeout: millis(f[6])}
}

// result is one line of the output.
type result struct {
	ID     string  `json:"id"`
	Warmed int64   `json:"warmed"` // ms since 1970
	Sent   int64   `json:"sent"`
	Done   int64   `json:"done"`
	Status int     `json:"status"`
	Error  *thrown `json:"error,omitempty"`
}

type thrown struct {
	Names []string `json:"names"`
	Text  string   `json:"text"`
}

// play warms a connection, leaves it idle and uses it again.
func play(j job) result {
	r := result{ID: j.id}
	transport := &http.Transport{} // setting: go-net-http max_idle
	if j.h2 {
		transport.ForceAttemptHTTP2, transport.TLSClientConfig = true, &tls.Config{InsecureSkipVerify: true}
	}
	transport.DialContext = (&net.Dialer{Timeout: j.timeout}).DialContext
	client := &http.Client{Transport: transport}
	if !j.cold {
		if _, err := call(client, http.MethodGet, j.url+"/warm", j.timeout); err != nil {
			r.Error = &thrown{Names: known(err), Text: "warming: " + err.Error()}
			return r
		}
		r.Warmed = time.Now().UnixMilli()
	}
	time.Sleep(j.idle)
	r.Sent = time.Now().UnixMilli()
	status, err := call(client, j.method, j.url+"/again", 2*j.timeout)
	r.Status, r.Done = status, time.Now().UnixMilli()
	if err != nil {
		r.Error = &thrown{Names: known(err), Text: err.Error()}
	}
	return r
}

// call sends one request and reads the whole answer.
func call(client *http.Client, method, address string, timeout time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("{}")
	}
	q, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}

// known are the names by which errors.Is and errors.As know an error, the most
// exact first.
func known(err error) []string {
	names := []string{}
	add := func(name string, is bool) {
		if is {
			names = append(names, name)
		}
	}
	add("io.EOF", errors.Is(err, io.EOF))
	add("io.ErrUnexpectedEOF", errors.Is(err, io.ErrUnexpectedEOF))
	add("syscall.ECONNRESET", errors.Is(err, syscall.ECONNRESET))
	add("syscall.ECONNREFUSED", errors.Is(err, syscall.ECONNREFUSED))
	add("context.DeadlineExceeded", errors.Is(err, context.DeadlineExceeded))
	add("os.ErrDeadlineExceeded", errors.Is(err, os.ErrDeadlineExceeded))
	add("textproto.ProtocolError", as[textproto.ProtocolError](err))
	add("*tls.CertificateVerificationError", as[*tls.CertificateVerificationError](err))
	add("tls.AlertError", as[tls.AlertError](err))
	add("*net.DNSError", as[*net.DNSError](err))
	add("*net.OpError", as[*net.OpError](err))
	add("*url.Error", as[*url.Error](err))
	add("net.Error", as[net.Error](err))
	return names
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func main() {
	var running sync.WaitGroup
	var writing sync.Mutex
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		j := parse(in.Text())
		running.Go(func() {
			r := play(j)
			writing.Lock()
			defer writing.Unlock()
			if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	running.Wait()
}
