package lab_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

// TestMain lets more tests run at once than there are processors: they wait
// for timeouts, they do not work.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write docs/lab.md anew")
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// start runs a scenario for the length of the test. Without root, scenarios that
// need it must say so.
func start(t *testing.T, name string, o lab.Options) *lab.Server {
	t.Helper()
	s, err := lab.Start(context.Background(), name, o)
	if err != nil {
		scenario, _ := lab.Find(name)
		unprivileged := scenario.Root && os.Geteuid() != 0 && strings.Contains(err.Error(), "CAP_NET_ADMIN")
		// A developer without root sees why; CI is root, and there it is a failure.
		if unprivileged && os.Getenv("CI") != "true" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client is a pooled one that trusts the server.
func client(t *testing.T, s *lab.Server) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: s.ClientConfig(), DialContext: s.Dialer().DialContext, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get returns the status and the body's first 64 KiB.
func get(t *testing.T, c *http.Client, url string) (int, []byte) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

func TestRecordsRequests(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		told := make(chan lab.Request, 2)
		s := start(t, "healthy", lab.Options{TLS: secure, OnRequest: func(q lab.Request) { told <- q }})
		c := client(t, s)
		before := time.Now()
		for range 2 {
			if status, body := get(t, c, s.URL()+"/calendar?days=2"); status != http.StatusOK || !bytes.Contains(body, []byte(`"days"`)) {
				t.Errorf("status %d, body %q", status, body)
			}
		}
		got := s.Requests()
		if len(got) != 2 {
			t.Fatalf("%d requests recorded, want 2", len(got))
		}
		q := got[1]
		if q.Method != http.MethodGet || q.URI != "/calendar?days=2" || q.Connection != 1 || q.Number != 2 || q.Header.Get("User-Agent") == "" {
			t.Errorf("recorded %+v", q)
		}
		if q.At.Before(before) || q.At.After(time.Now()) || q.At.Before(got[0].At) {
			t.Errorf("recorded at %v", q.At)
		}
		if first := <-told; first.Number != 1 {
			t.Errorf("told of %+v first", first)
		}
		if opened, peak := s.Connections(); opened != 1 || peak != 1 {
			t.Errorf("%d connections, %d at once, want 1 and 1", opened, peak)
		}
	}
}

func TestHealthyRequestsComeFirst(t *testing.T) {
	t.Parallel()
	s := start(t, "status", lab.Options{Healthy: 2})
	c := client(t, s)
	for i, want := range []int{200, 200, 404, 404} {
		if status, _ := get(t, c, s.URL()); status != want {
			t.Errorf("request %d: status %d, want %d", i+1, status, want)
		}
	}
}

func TestBombUnpacksTo256MiB(t *testing.T) {
	t.Parallel()
	s := start(t, "too_large_gzip", lab.Options{})
	status, body := get(t, client(t, s), s.URL())
	if status != http.StatusOK || len(body) > 400<<10 {
		t.Fatalf("status %d, %d bytes on the wire", status, len(body))
	}
	in, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, in) // checks the sum and the size
	if err != nil || n != 256<<20 {
		t.Errorf("unpacked %d bytes, %v", n, err)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	t.Parallel()
	s := start(t, "healthy", lab.Options{})
	c := client(t, s)
	for range 2 { // a body would spoil the second answer
		resp, err := c.Head(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if resp.ContentLength == 0 || resp.StatusCode != http.StatusOK {
			t.Errorf("status %d, length %d", resp.StatusCode, resp.ContentLength)
		}
	}
}

func TestIdleForFollowsTheIdleTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, "idle_fin", lab.Options{IdleTimeout: 3 * time.Second})
	if got := s.Scenario().IdleFor; got <= 3*time.Second || got > 4*time.Second {
		t.Errorf("idle for %v to see a close after 3 s", got)
	}
}

func TestWriteCA(t *testing.T) {
	t.Parallel()
	s := start(t, "certificate", lab.Options{})
	path, err := s.WriteCA(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(text, s.CA()) || !bytes.HasPrefix(text, []byte("-----BEGIN CERTIFICATE-----")) {
		t.Errorf("%s holds %q, %v", path, text, err)
	}
	if _, err := start(t, "healthy", lab.Options{}).WriteCA(t.TempDir()); err == nil {
		t.Error("a plain server wrote an authority")
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, c := range []struct {
		name string
		o    lab.Options
		want string
	}{
		{"idle_finn", lab.Options{}, `no scenario is called "idle_finn"; there are: healthy, incident, `},
		{"healthy", lab.Options{Addr: taken.Addr().String()}, "address already in use"},
		{"healthy", lab.Options{Addr: "nonsense", TLS: true}, "nonsense"},
	} {
		s, err := lab.Start(context.Background(), c.name, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %+v: %v, want %q in it", c.name, c.o, err, c.want)
		}
		if s != nil {
			t.Errorf("%s with %+v: a server and an error", c.name, c.o)
		}
	}
}

func TestContextEndsTheServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := lab.Start(ctx, "healthy", lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ask(t, conn)
	readAnswer(t, conn)
	cancel()
	if got := readAll(t, conn, wanted{end: endFIN}); got.end != endFIN {
		t.Errorf("the connection ended with %q", got.end)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func ExampleStart() {
	server, err := lab.Start(context.Background(), "expectation", lab.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	resp, err := http.Get(server.URL() + "/calendar?days=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.Status)
	// Output: 200 OK
}
