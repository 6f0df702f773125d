package wire

import (
	"errors"
	"math"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is the kernel's view of a TCP socket.
type socket struct {
	raw  syscall.RawConn
	read *int64 // how much of the peer's stream has been read
	base uint64 // the kernel's count of received bytes at the stream's beginning
}

// kernelOf returns the kernel's view of a connection of which nothing has been
// read yet, and a first look at it. It is nil where the kernel tells too little:
// in-memory connections, other sockets than TCP, and systems that fill in
// TCP_INFO by halves (a connection counts its SYN as acknowledged, so 0 is one).
func kernelOf(c net.Conn, read *int64) (kernel, *Snapshot) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, nil
	}
	k := &socket{raw: raw, read: read}
	first := &Snapshot{}
	err = raw.Control(func(fd uintptr) {
		if k.ask(int(fd), first) && first.Received > 0 { // a peer that speaks first, or whoever dialed
			k.base = uint64(first.Received) - uint64(queued(int(fd)))
		}
	})
	if err != nil || first.State == 0 || first.BytesAcked == 0 {
		return nil, nil
	}
	return k, first
}

// watch waits for readability in RawConn.Read with a callback that consumes
// nothing: a recv with MSG_PEEK, or SO_ERROR, would swallow a pending RST.
func (k *socket) watch(see func(*Snapshot) bool) error {
	return k.raw.Read(func(fd uintptr) bool { return see(k.look(int(fd))) })
}

func (k *socket) snapshot() *Snapshot {
	s := &Snapshot{At: time.Now()}
	// The error says that the connection is closed here: the snapshot stays unknown.
	_ = k.raw.Control(func(fd uintptr) { s = k.look(int(fd)) })
	return s
}

func (k *socket) write(b []byte, starts func(time.Time)) sent {
	var out sent
	err := k.raw.Write(func(fd uintptr) bool {
		first := out.before == nil
		if first {
			out.before, out.started = lastLook(func() *Snapshot { return k.look(int(fd)) })
			if starts != nil {
				starts(out.started)
			}
		}
		var n int
		n, out.err = fit(int(fd), b[out.n:])
		out.n += n
		if first {
			out.stood = time.Since(out.started)
		}
		return out.err != nil || out.n == len(b)
	})
	if out.err == nil {
		out.err = err
	}
	return out
}

func (k *socket) offer(b []byte) (n int, err error) {
	closed := k.raw.Control(func(fd uintptr) { n, err = fit(int(fd), b) })
	if err == nil {
		err = closed
	}
	return n, err
}

// fit writes what the socket's buffer has room for: no error where it is full.
func fit(fd int, b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := unix.Write(fd, b[done:])
		switch {
		case err == nil:
			done += n
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return done, nil
		default:
			return done, err
		}
	}
	return done, nil
}

// look asks the kernel. One TCP_INFO counts bytes and acknowledgements at one
// moment: bytes that it shows have had their acknowledgement counted. Its state
// is a moment older, so a FIN may be counted as a byte already: what is not
// quiet is asked again.
func (k *socket) look(fd int) *Snapshot {
	s := &Snapshot{At: time.Now()}
	for range 3 {
		if !k.ask(fd, s) || s.quiet() {
			return s
		}
		if s.Queued = unread(s.Queued, queued(fd)); !s.quiet() {
			break
		}
	}
	s.Received = *k.read + int64(s.Queued)
	return s
}

// unmeasured is the kernel's smallest round trip before there is one.
const unmeasured = math.MaxUint32

// ask fills in what TCP_INFO tells.
func (k *socket) ask(fd int, s *Snapshot) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return false
	}
	s.State = State(info.State)
	s.Received = int64(info.Bytes_received - k.base)
	s.Queued = int(s.Received - *k.read)
	s.RTT = time.Duration(info.Rtt) * time.Microsecond
	if info.Min_rtt != unmeasured {
		s.MinRTT = time.Duration(info.Min_rtt) * time.Microsecond
	}
	s.RTO = time.Duration(info.Rto) * time.Microsecond
	s.BytesAcked = info.Bytes_acked
	s.Unacked = info.Unacked
	s.Retransmits = info.Retransmits
	s.TotalRetrans = info.Total_retrans
	s.LastAckRecv = time.Duration(info.Last_ack_recv) * time.Millisecond
	s.LastDataRecv = time.Duration(info.Last_data_recv) * time.Millisecond
	return true
}

// unread is how many bytes waited when TCP_INFO counted them, waiting those that
// wait a moment later: a FIN may be one of the counted, and what has come since is
// for the next look, with the acknowledgements that came with it.
func unread(counted, waiting int) int { return min(counted, waiting) }

// queued returns how many bytes wait to be read; it knows a FIN from a byte.
func queued(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
