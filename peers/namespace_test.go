//go:build peers

package peers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// namespace is a network namespace of the test's own with one device: a TUN
// whose packets are read and written here.
type namespace struct {
	fd  int
	tun *os.File
}

// newNamespace makes a namespace whose device has that address, in a /24. It is
// gone when the test has ended and nothing runs in it any more.
func newNamespace(t *testing.T, ip string) *namespace {
	t.Helper()
	n := &namespace{fd: -1}
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("making a namespace: %w", err)
		}
		fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening the namespace: %w", err)
		}
		n.fd = fd
		n.tun, err = newTUN(ip)
		return err
	})
	t.Cleanup(func() {
		if n.fd >= 0 {
			_ = unix.Close(n.fd)
		}
	})
	if err != nil {
		t.Fatalf("making a network namespace (this needs root and /dev/net/tun): %v", err)
	}
	return n
}

// inside runs f in the namespace. What f opens stays there.
func (n *namespace) inside(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(n.fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("entering the namespace: %w", err)
		}
		return f()
	})
}

// onThread runs f on a thread of its own, which ends with it: nobody else can
// find themselves in another namespace.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

// newTUN makes the namespace's device and brings it and loopback up.
func newTUN(ip string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq("tun0")
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return nil, errors.Join(fmt.Errorf("making a TUN device: %w", err), unix.Close(fd))
	}
	if err := errors.Join(address("tun0", ip), up("tun0"), up("lo")); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "tun0"), nil
}

// address gives a device its address and a mask of 24 bits.
func address(device, ip string) error {
	return errors.Join(
		set(device, unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(net.ParseIP(ip).To4()) }),
		set(device, unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 255, 0}) }),
	)
}

func up(device string) error {
	return set(device, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error {
		r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		return nil
	})
}

// set changes one thing of a device of this thread's namespace.
func set(device string, what uint, fill func(*unix.Ifreq) error) error {
	request, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	if err := fill(request); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	if err := unix.IoctlIfreq(fd, what, request); err != nil {
		return errors.Join(fmt.Errorf("setting up %s: %w", device, err), unix.Close(fd))
	}
	return unix.Close(fd)
}
