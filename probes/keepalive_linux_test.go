package probes

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The application's TCP keep-alive is that of the connection that is held for
// it, also under TLS; without one the path is left alone.
func TestTCPKeepAliveWhileHolding(t *testing.T) {
	identity := newIdentity(t, "api.example")
	for name, c := range map[string]struct {
		scheme string
		every  time.Duration
	}{
		"plain": {"http", 7 * time.Second}, "plain, none": {"http", 0},
		"TLS": {"https", 7 * time.Second}, "TLS, none": {"https", 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if c.scheme == "https" {
				l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{identity.pair(t)}})
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })}
			go func() { _ = server.Serve(l) }() // ends with the test
			t.Cleanup(func() { _ = server.Close() })

			s := realSpec(t, KindIdle, c.scheme+"://"+l.Addr().String()+"/")
			s.Client, s.TLS = &Client{TCPKeepAlive: c.every}, TLS{CAFile: "api.pem", ServerName: "api.example"}
			env := newEnv(nil, &desk{t: t})
			env.ReadFile = func(string) ([]byte, error) { return identity.cert, nil }
			var got []int
			env.Watch = func(e Event) {
				if e.What == EventHolding {
					got = keepAlive(t, l.Addr().(*net.TCPAddr).Port)
				}
			}
			done := make(chan Observation)
			StartIdle(t.Context(), s, 10*time.Millisecond, env, func(o Observation) { done <- o })
			if o := <-done; len(o.Attempts) != 2 || !o.Attempts[1].OK() {
				t.Fatalf("%+v", o)
			}
			seconds := int(c.every / time.Second)
			switch {
			case len(got) != 3:
				t.Fatal("no connection was held")
			case seconds == 0 && got[0] != 0:
				t.Errorf("TCP keep-alive is on, which nobody asked for")
			case seconds > 0 && (got[0] != 1 || got[1] != seconds || got[2] != seconds):
				t.Errorf("on %d, idle %d s, interval %d s; want on and %d s", got[0], got[1], got[2], seconds)
			}
		})
	}
}

// keepAlive reads the options of this process's socket that is connected to a
// port: whether it is on, the idle seconds, the interval.
func keepAlive(t *testing.T, port int) []int {
	t.Helper()
	fd, ok := connectedTo(port)
	if !ok {
		return nil
	}
	var options []int
	for _, o := range [][2]int{{unix.SOL_SOCKET, unix.SO_KEEPALIVE}, {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}, {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}} {
		v, err := unix.GetsockoptInt(fd, o[0], o[1])
		if err != nil {
			t.Error(err)
		}
		options = append(options, v)
	}
	return options
}

// connectedTo finds this process's socket that is connected to a port.
func connectedTo(port int) (fd int, ok bool) {
	const most = 4096
	for fd := range most {
		peer, err := unix.Getpeername(fd)
		if to, ok := peer.(*unix.SockaddrInet4); err == nil && ok && to.Port == port {
			return fd, true
		}
	}
	return 0, false
}

// awaitFIN waits until our kernel has the FIN of whoever this process is connected to.
func awaitFIN(t *testing.T, peer net.Addr) {
	t.Helper()
	const closeWait = 8 // TCP_CLOSE_WAIT
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		fd, ok := connectedTo(peer.(*net.TCPAddr).Port)
		if !ok {
			continue
		}
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil && info.State == closeWait {
			return
		}
	}
	t.Errorf("no FIN of %s came", peer)
}
