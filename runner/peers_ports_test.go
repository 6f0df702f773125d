//go:build peers && linux

package runner

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/probes/wire"
)

// inNamespace marks the child process of the test, which has a network of its own.
const inNamespace = "RUNNER_TEST_IN_NAMESPACE"

// TestNoPortIsLeft: a network of its own with eight local ports, all in use. The
// next connection fails by the system's own error, and the count says why. It
// needs root.
func TestNoPortIsLeft(t *testing.T) {
	if os.Getenv(inNamespace) != "" {
		useUpPorts(t)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestNoPortIsLeft$", "-test.v")
	child.Env = append(os.Environ(), inNamespace+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	text, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(text), "seen without a port") {
		t.Errorf("in a network of its own (needs root): %v\n%s", err, text)
	}
}

func useUpPorts(t *testing.T) {
	const first, ports = 40000, 8
	loopbackUp(t)
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 "+strconv.Itoa(first+ports-1)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:9000")
	if err != nil {
		t.Fatal(err)
	}
	o := wire.Options{Host: "127.0.0.1", Port: "9000", Connect: 5 * time.Second}
	for n := range ports {
		c, e := wire.Open(t.Context(), o)
		if c == nil {
			t.Fatalf("connection %d of %d: %s", n+1, ports, e.Error)
		}
		defer func() { _ = c.Close() }()
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	c, e := wire.Open(t.Context(), o)
	if c != nil || e.Failure != wire.FailureConnect || e.DialErr != wire.ErrnoNoAddress {
		t.Fatalf("opened %v: %s, %s (%s)", c != nil, e.Failure, e.DialErr, e.Error)
	}
	if u := hostSystem().ports(); u.Limit != ports || u.Used < ports {
		t.Fatalf("%+v, with all of %d ports in use", u, ports)
	}
	t.Log("seen without a port")
}

func loopbackUp(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}
