package lab

import (
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// mute is a loopback port that never answers a SYN: its queue of connections
// to accept is full, and nobody accepts.
func mute() (addr string, held []io.Closer, err error) {
	fd, addr, err := bound()
	if err != nil {
		return "", nil, err
	}
	held = []io.Closer{fd}
	if err := unix.Listen(int(fd), 0); err != nil {
		return "", held, fmt.Errorf("listening: %w", err)
	}
	// A queue of length 0 has room for one.
	filler, err := net.Dial("tcp", addr)
	if err != nil {
		return "", held, fmt.Errorf("filling the queue of connections to accept: %w", err)
	}
	return addr, append(held, filler), nil
}

// deaf is a loopback port that is taken and not listened on: it refuses, and
// nobody else can open it meanwhile.
func deaf() (addr string, held io.Closer, err error) {
	fd, addr, err := bound()
	return addr, fd, err
}

// descriptor is a socket of our own.
type descriptor int

func (d descriptor) Close() error { return unix.Close(int(d)) }

// bound takes a free loopback port without listening on it.
func bound() (descriptor, string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, "", fmt.Errorf("opening a socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, "", errors.Join(fmt.Errorf("taking a port: %w", err), unix.Close(fd))
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, "", errors.Join(fmt.Errorf("reading the port: %w", err), unix.Close(fd))
	}
	port := name.(*unix.SockaddrInet4).Port
	return descriptor(fd), fmt.Sprintf("127.0.0.1:%d", port), nil
}
