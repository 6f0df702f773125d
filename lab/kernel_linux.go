package lab

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Classic BPF, as SO_ATTACH_FILTER takes it. On a TCP socket the program sees
// the segment from the TCP header on; what it returns is how much of it stays.
const (
	loadLength = unix.BPF_LD | unix.BPF_W | unix.BPF_LEN // A = bytes of header and data
	storeA     = unix.BPF_ST                             // M[k] = A
	loadByte   = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS // A = segment[k]
	and        = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	shiftRight = unix.BPF_ALU | unix.BPF_RSH | unix.BPF_K
	toX        = unix.BPF_MISC | unix.BPF_TAX // X = A
	loadA      = unix.BPF_LD | unix.BPF_MEM   // A = M[k]
	jumpAboveX = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_X
	keep       = unix.BPF_RET | unix.BPF_K

	everything = 0xffffffff
)

// dropAll loses every segment: a path that forgot the connection.
func dropAll() []unix.SockFilter {
	return []unix.SockFilter{{Code: keep, K: 0}}
}

// dropNothing tells whether a filter may be attached at all.
func dropNothing() []unix.SockFilter {
	return []unix.SockFilter{{Code: keep, K: everything}}
}

// dropData loses the segments that carry data and keeps acknowledgements,
// FIN and RST. The header's length is in the upper half of its byte 12, in
// words of four bytes.
func dropData() []unix.SockFilter {
	return []unix.SockFilter{
		{Code: loadLength},
		{Code: storeA, K: 0},
		{Code: loadByte, K: 12},
		{Code: and, K: 0xf0},
		{Code: shiftRight, K: 2},
		{Code: toX},
		{Code: loadA, K: 0},
		{Code: jumpAboveX, Jt: 1},
		{Code: keep, K: everything},
		{Code: keep, K: 0},
	}
}

// attach puts a filter on a socket, in place of the one it had.
func attach(fd int, program []unix.SockFilter) error {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &p); err != nil {
		return fmt.Errorf("attaching a socket filter: %w", err)
	}
	return nil
}

// mayFilter fails where attaching filters is not allowed: newer kernels want
// CAP_NET_ADMIN for it, also for the classic ones.
func mayFilter() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	err = errors.Join(attach(fd, dropNothing()), unix.Close(fd))
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%w (root, or CAP_NET_ADMIN, is needed)", err)
	}
	return err
}

// losesData makes our kernel lose what the client sends from now on, but not
// its acknowledgements.
func (c *conn) losesData() error { return c.filter(dropData()) }

// losesAll makes our kernel lose every segment of the client from now on.
func (c *conn) losesAll() error { return c.filter(dropAll()) }

func (c *conn) filter(program []unix.SockFilter) error {
	var attached error
	if err := c.control(func(fd int) { attached = attach(fd, program) }); err != nil {
		return err
	}
	return attached
}

// control runs f on the connection's descriptor; it fails when the connection
// is closed.
func (c *conn) control(f func(fd int)) error {
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

// pending is the number of bytes that arrived and were not read yet; 0 also
// when it is not known.
func (c *conn) pending() int { return c.queued(unix.SIOCINQ) }

// unacknowledged is the number of bytes that were written and not acknowledged
// yet; 0 also when it is not known.
func (c *conn) unacknowledged() int { return c.queued(unix.SIOCOUTQ) }

func (c *conn) queued(which uint) int {
	n := 0
	_ = c.control(func(fd int) {
		if got, err := unix.IoctlGetInt(fd, which); err == nil {
			n = got
		}
	})
	return n
}

// open reports whether the client has neither ended nor reset the connection,
// as far as our kernel has heard.
func (c *conn) open() bool {
	const established = 1 // TCP_ESTABLISHED
	open := false
	_ = c.control(func(fd int) {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		open = err == nil && info.State == established
	})
	return open
}

// dropped is the number of segments that the connection's filter lost.
func (c *conn) dropped() uint32 {
	var memory [unix.SK_MEMINFO_VARS]uint32
	_ = c.control(func(fd int) {
		size := uint32(unsafe.Sizeof(memory))
		_, _, _ = unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&memory)), uintptr(unsafe.Pointer(&size)), 0)
	})
	return memory[unix.SK_MEMINFO_DROPS]
}
