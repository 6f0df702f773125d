package lab

import "golang.org/x/sys/unix"


// control runs f on the connection's descriptor; 0 when the connection is
// closed.
func (c *conn) control(f func(fd int) int) int {
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return 0
	}
	var got int
	if err := raw.Control(func(fd uintptr) { got = f(int(fd)) }); err != nil {
		return 0
	}
	return got
}

// pending is the number of bytes that arrived and were not read yet.
func (c *conn) pending() int {
	return c.control(func(fd int) int {
		n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
		if err != nil {
			return 0
		}
		return n
	})
}
