package probes

import (
	"net"
	"syscall"
)

// segment asks the kernel how large a segment of a connection may be, and the
// smallest MTU that it knows of the path; 0: unknown.
func segment(c net.Conn) (mss, mtu int) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return 0, 0
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, 0
	}
	level, option := syscall.IPPROTO_IP, syscall.IP_MTU
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok && a.IP.To4() == nil {
		level, option = syscall.IPPROTO_IPV6, syscall.IPV6_MTU
	}
	_ = raw.Control(func(fd uintptr) { // an error leaves both unknown
		mss = ask(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG)
		mtu = ask(int(fd), level, option)
	})
	return mss, mtu
}

func ask(fd, level, option int) int {
	n, err := syscall.GetsockoptInt(fd, level, option)
	if err != nil {
		return 0
	}
	return n
}
