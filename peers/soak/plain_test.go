//go:build soak

package soak

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	plainEnv = "PERCH_SOAK_PLAIN"
	recorded = "/at/" // of what is below it each arrival is told
	// plainAddresses spread the connections: one address alone would run out of
	// ports, which wait for a minute after each connection.
	plainAddresses = 20
	plainAnswer    = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}"
)

// plainServer is a process of its own that answers anything, on several loopback
// addresses, counts by path, and tells when each request arrived.
type plainServer struct {
	addresses []string
	came      arrivals
}

func startPlain(t *testing.T) *plainServer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), plainEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it ends in no other way
	s, lines := &plainServer{}, bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the plain server: %v", lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &s.addresses); err != nil {
		t.Fatalf("the plain server: %v", err)
	}
	go func() {
		for lines.Scan() {
			at, path, _ := strings.Cut(lines.Text(), " ")
			if nano, err := strconv.ParseInt(at, 10, 64); err == nil {
				s.came.add(path, time.Unix(0, nano))
			}
		}
	}()
	return s
}

// url is where the nth target is.
func (s *plainServer) url(n int, path string) string {
	return "http://" + s.addresses[n%len(s.addresses)] + path
}

// counted is how many requests came so far, by path.
func (s *plainServer) counted(t *testing.T) map[string]int {
	t.Helper()
	resp, err := http.Get(s.url(0, "/counted"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all := map[string]int{}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// servePlain is the process.
func servePlain() int {
	p := &plain{counts: map[string]int{}, out: bufio.NewWriterSize(os.Stdout, 64<<10)}
	var addresses []string
	for i := range plainAddresses {
		l, err := net.Listen("tcp", fmt.Sprintf("127.1.0.%d:0", i+1))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		addresses = append(addresses, l.Addr().String())
		go p.accept(l)
	}
	if err := json.NewEncoder(os.Stdout).Encode(addresses); err != nil {
		return 1
	}
	for range time.Tick(100 * time.Millisecond) {
		p.mu.Lock()
		err := p.out.Flush()
		p.mu.Unlock()
		if err != nil {
			return 0 // the test is gone
		}
	}
	return 0
}

type plain struct {
	mu     sync.Mutex
	counts map[string]int
	out    *bufio.Writer
}

func (p *plain) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

// serve answers until the client ends the connection, as an API does.
func (p *plain) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // what fails here fails in reading
	r := bufio.NewReaderSize(c, 2048)
	for {
		head, err := readHead(r)
		if err != nil {
			return
		}
		at := time.Now()
		_, path, _ := bytes.Cut(head, []byte(" "))
		path, _, _ = bytes.Cut(path, []byte(" "))
		answer := plainAnswer
		if string(path) == "/counted" {
			answer = p.told()
		} else {
			p.count(string(path), at)
		}
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

func readHead(r *bufio.Reader) ([]byte, error) {
	var first []byte
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = bytes.Clone(line)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return first, nil
		}
	}
}

func (p *plain) count(path string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[path]++
	if strings.HasPrefix(path, recorded) {
		fmt.Fprintln(p.out, at.UnixNano(), path) // Flush says whether it can be written
	}
}

func (p *plain) told() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out strings.Builder
	_ = json.NewEncoder(&out).Encode(p.counts) // a map of numbers
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", out.Len(), out.String())
}
