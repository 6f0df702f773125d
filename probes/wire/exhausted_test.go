//go:build unix

package wire_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"perch.example/probes/wire"
)

// inChild names what the child process of a test is to do.
const inChild = "WIRE_TEST_CHILD"

// TestNoDescriptorIsLeft: this machine has no file descriptor for a socket, to
// an address or for the resolver, and it is told by the system's error.
func TestNoDescriptorIsLeft(t *testing.T) {
	if host := os.Getenv(inChild); host != "" {
		withoutDescriptors(t, host)
		return
	}
	for _, host := range []string{"127.0.0.1", "api.example"} {
		t.Run(host, func(t *testing.T) {
			child := exec.Command(os.Args[0], "-test.run=^TestNoDescriptorIsLeft$", "-test.v")
			child.Env = append(os.Environ(), inChild+"="+host, "GODEBUG=netdns=go")
			text, err := child.CombinedOutput()
			if err != nil || !strings.Contains(string(text), "seen without a descriptor") {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// withoutDescriptors uses up all descriptors and opens a connection.
func withoutDescriptors(t *testing.T, host string) {
	o := wire.Options{Host: host, Port: "9", DNS: 5 * time.Second, Connect: 5 * time.Second}
	// Whatever the resolver and the poller keep open, they open now.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	_, _ = wire.Open(ctx, o)
	cancel()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var all []*os.File
	for range limit.Cur {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		all = append(all, f)
	}
	c, e := wire.Open(t.Context(), o)
	for _, f := range all {
		_ = f.Close()
	}
	want := wire.FailureConnect
	if host == "api.example" {
		want = wire.FailureDNS
	}
	if c != nil || e.Failure != want || e.DialErr != wire.ErrnoDescriptors {
		t.Fatalf("opened %v: %s, %s (%s); want %s, %s", c != nil, e.Failure, e.DialErr, e.Error, want, wire.ErrnoDescriptors)
	}
	t.Log("seen without a descriptor")
}

// What the system says when a socket cannot be had, by its number.
func TestErrorsOfDialing(t *testing.T) {
	fails := func(err error) wire.DialFunc {
		return func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: err}
		}
	}
	// An address that this machine does not have: the kernel's own EADDRNOTAVAIL.
	elsewhere := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 77)}}
	tests := []struct {
		name string
		dial wire.DialFunc
		want wire.Errno
		how  wire.Failure
	}{
		{"the process's limit", fails(os.NewSyscallError("socket", syscall.EMFILE)), wire.ErrnoDescriptors, wire.FailureConnect},
		{"the machine's limit", fails(os.NewSyscallError("socket", syscall.ENFILE)), wire.ErrnoDescriptors, wire.FailureConnect},
		{"no port", fails(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)), wire.ErrnoNoAddress, wire.FailureConnect},
		{"no address", elsewhere.DialContext, wire.ErrnoNoAddress, wire.FailureConnect},
		{"its text alone", fails(errors.New("socket: too many open files")), wire.ErrnoOther, wire.FailureConnect},
		{"refused", fails(os.NewSyscallError("connect", syscall.ECONNREFUSED)), wire.ErrnoRefused, wire.FailureRefused},
	}
	for _, tt := range tests {
		c, e := wire.Open(t.Context(), wire.Options{Host: "127.0.0.1", Port: "9", Dial: tt.dial, Connect: time.Second})
		if c != nil || e.DialErr != tt.want || e.Failure != tt.how {
			t.Errorf("%s: %s, %s; want %s, %s", tt.name, e.Failure, e.DialErr, tt.how, tt.want)
		}
	}
	s := serve(t, nil, (*peer).linger)
	c, e := wire.Open(t.Context(), s.options(nil))
	if c == nil || e.DialErr != "" {
		t.Errorf("an open connection says %q", e.DialErr)
	} else {
		_ = c.Close()
	}
	_, e = wire.Open(t.Context(), wire.Options{Host: "api.example", Port: "9", Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return nil, errors.New("no such host")
	}})
	if e.Failure != wire.FailureDNS || e.DialErr != "" {
		t.Errorf("a name that nobody knows says %s, %q", e.Failure, e.DialErr)
	}
}
