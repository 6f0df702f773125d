package wire

import (
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is the kernel's view of a TCP socket.
type socket struct{ raw syscall.RawConn }

// kernelOf returns the kernel's view of a connection, or nil where it has none:
// in-memory connections, other sockets than TCP.
func kernelOf(c net.Conn) kernel {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	k := &socket{raw: raw}
	if k.snapshot().State == 0 {
		return nil
	}
	return k
}

// watch waits for readability in RawConn.Read with a callback that consumes
// nothing: a recv with MSG_PEEK, or SO_ERROR, would swallow a pending RST.
func (k *socket) watch(see func(Snapshot) bool) error {
	return k.raw.Read(func(fd uintptr) bool { return see(look(int(fd))) })
}

func (k *socket) snapshot() Snapshot {
	var s Snapshot
	// The error says that the connection is closed here: the snapshot stays unknown.
	_ = k.raw.Control(func(fd uintptr) { s = look(int(fd)) })
	return s
}

func (k *socket) write(b []byte) sent {
	var out sent
	err := k.raw.Write(func(fd uintptr) bool {
		if out.before == nil {
			s := look(int(fd))
			out.before, out.started = &s, time.Now()
		}
		for out.n < len(b) {
			n, err := unix.Write(int(fd), b[out.n:])
			switch {
			case err == nil:
				out.n += n
			case errors.Is(err, unix.EINTR):
			case errors.Is(err, unix.EAGAIN):
				return false
			default:
				out.err = err
				return true
			}
		}
		s := look(int(fd))
		out.after = &s
		return true
	})
	if out.err == nil {
		out.err = err
	}
	return out
}

// look asks the kernel. The queue is asked first: bytes seen in it have had
// their acknowledgement counted by the time TCP_INFO is read, never the other
// way round.
func look(fd int) Snapshot {
	s := Snapshot{At: time.Now()}
	if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err == nil {
		s.Queued = n
	}
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return s
	}
	s.State = State(info.State)
	s.RTT = time.Duration(info.Rtt) * time.Microsecond
	s.RTO = time.Duration(info.Rto) * time.Microsecond
	s.BytesAcked = info.Bytes_acked
	s.Unacked = info.Unacked
	s.Retransmits = info.Retransmits
	s.TotalRetrans = info.Total_retrans
	s.LastAckRecv = time.Duration(info.Last_ack_recv) * time.Millisecond
	s.LastDataRecv = time.Duration(info.Last_data_recv) * time.Millisecond
	return s
}
