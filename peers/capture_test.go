//go:build peers

package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Segment is one TCP segment of a connection with the server.
type Segment struct {
	At            time.Time // the kernel's, when it passed the device; wall clock
	FromServer    bool
	ClientPort    uint16
	SYN, FIN, RST bool
	Data          int // bytes
	Seq, Ack      uint32
	Head          []byte // the first of what the server's data is, at most 48 bytes; nil: the client's, or none
}

// Capture records the segments to and from one server port.
type Capture struct {
	port uint16
	mu   sync.Mutex
	all  []Segment
	fail error
}

// StartCapture records what passes loopback to and from the server's port, until
// the test ends.
func StartCapture(t *testing.T, serverPort uint16) *Capture {
	t.Helper()
	fd, err := packetSocket(serverPort)
	if err != nil {
		t.Fatalf("capturing on loopback: %v", err)
	}
	file := os.NewFile(uintptr(fd), "packets")
	c := &Capture{port: serverPort}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read(file)
	}()
	t.Cleanup(func() {
		_ = file.Close()
		<-done
		if c.fail != nil {
			t.Errorf("capturing on loopback: %v", c.fail)
		}
	})
	return c
}

// packetSocket listens on loopback, below IP. The filter is attached before the
// socket is bound: nothing else gets in.
func packetSocket(port uint16) (int, error) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("opening a packet socket: %w", err)
	}
	filter := portFilter(port)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err = errors.Join(
		unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20),
	)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_IP), Ifindex: lo.Index})
	}
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// portFilter keeps the first 100 bytes of TCP over IPv4 from or to the port.
func portFilter(port uint16) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 9}, // protocol
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.IPPROTO_TCP, Jf: 6},
		{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0}, // X = bytes of the IP header
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: 0},  // from
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(port), Jt: 2},
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: 2}, // to
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(port), Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 100},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}

func bigEndian(v uint16) uint16 { return v<<8 | v>>8 }

// read takes packets until the file is closed. On loopback each passes twice,
// leaving and arriving: the arriving one counts.
func (c *Capture) read(file *os.File) {
	raw, err := file.SyscallConn()
	if err != nil {
		c.fail = err
		return
	}
	packet, control := make([]byte, 256), make([]byte, 128)
	for {
		var n, cn int
		var from unix.Sockaddr
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, cn, _, from, failed = unix.Recvmsg(int(fd), packet, control, 0)
			return !errors.Is(failed, unix.EAGAIN)
		})
		if err != nil {
			return // closed
		}
		if failed != nil {
			c.fail = failed
			return
		}
		if link, ok := from.(*unix.SockaddrLinklayer); !ok || link.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		c.add(packet[:n], stamp(control[:cn]))
	}
}

// stamp is the kernel's time of the packet.
func stamp(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Now()
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		}
	}
	return time.Now()
}

// add records an IPv4 packet if it is one of the server's.
func (c *Capture) add(packet []byte, at time.Time) {
	s, ok := parseSegment(packet, c.port)
	if !ok {
		return
	}
	s.At = at
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, s)
}

// parseSegment reads the headers of a TCP segment over IPv4; false when it is
// none of the server's.
func parseSegment(packet []byte, serverPort uint16) (Segment, bool) {
	if len(packet) < 40 || packet[0]>>4 != 4 || packet[9] != unix.IPPROTO_TCP {
		return Segment{}, false
	}
	ip := int(packet[0]&0x0f) * 4
	total := int(binary.BigEndian.Uint16(packet[2:]))
	if len(packet) < ip+20 {
		return Segment{}, false
	}
	tcp := packet[ip:]
	from, to := binary.BigEndian.Uint16(tcp), binary.BigEndian.Uint16(tcp[2:])
	if from != serverPort && to != serverPort {
		return Segment{}, false
	}
	s := Segment{
		FromServer: from == serverPort, ClientPort: to,
		Seq: binary.BigEndian.Uint32(tcp[4:]), Ack: binary.BigEndian.Uint32(tcp[8:]),
		FIN: tcp[13]&1 != 0, SYN: tcp[13]&2 != 0, RST: tcp[13]&4 != 0,
		Data: total - ip - int(tcp[12]>>4)*4,
	}
	if !s.FromServer {
		s.ClientPort = from
		return s, true
	}
	if data := ip + int(tcp[12]>>4)*4; s.Data > 0 && data < len(packet) {
		s.Head = slices.Clone(packet[data:min(len(packet), data+s.Data)])
	}
	return s, true
}

// Segments returns the segments of the latest connection from that client port,
// in the order in which they passed.
func (c *Capture) Segments(clientPort uint16) []Segment {
	return c.SegmentsAt(clientPort, time.Now())
}

// SegmentsAt returns those of the latest connection that was begun by that
// instant: ports are used anew.
func (c *Capture) SegmentsAt(clientPort uint16, at time.Time) []Segment {
	c.mu.Lock()
	defer c.mu.Unlock()
	var got []Segment
	for _, s := range c.all {
		if s.ClientPort != clientPort {
			continue
		}
		if s.SYN && !s.FromServer {
			if s.At.After(at) {
				break
			}
			got = nil
		}
		got = append(got, s)
	}
	return slices.Clone(got)
}

// catchUp waits until all that has passed so far is recorded: packets are read in their
// order, and the last of them is a connection of its own.
func (c *Capture) catchUp(t *testing.T) {
	t.Helper()
	begun := time.Now().Add(-time.Millisecond)
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	own := conn.LocalAddr().(*net.TCPAddr).AddrPort().Port()
	await(t, "the capture to catch up", func() error {
		if all := c.Segments(own); len(all) == 0 || all[0].At.Before(begun) {
			return errors.New("it shows no connection")
		}
		return nil
	})
}

// Ending is how the server ended a connection.
type Ending struct {
	At      time.Time     // of the first segment that says so: bytes pushed right before the FIN, or the FIN, or an RST
	FIN     time.Time     // zero: an RST came first
	RST     time.Time     // zero: a FIN came first
	Pushed  int           // bytes that the server sent within 100 ms before: close_notify, a 408
	Idle    time.Duration // from the answer's last segment to At
	Asked   bool          // the client had sent data after the answer when it had not yet seen the end
	Crossed bool          // some of it is not acknowledged by the end: it was on its way when the end left
}

// Ending waits up to 5 s for the server's FIN or RST on the latest connection
// from that client port.
func (c *Capture) Ending(t *testing.T, clientPort uint16) Ending {
	t.Helper()
	end := time.Now().Add(5 * time.Second)
	for {
		if e, ok := ending(c.Segments(clientPort)); ok {
			return e
		}
		if time.Now().After(end) {
			t.Fatalf("the capture shows no end of the connection from port %d: %+v", clientPort, c.Segments(clientPort))
		}
		time.Sleep(time.Millisecond)
	}
}

// pushedWithin is how long before its FIN a server says why: close_notify and
// the FIN leave within 0.1 ms of each other.
const pushedWithin = 100 * time.Millisecond

// ending finds the first FIN or RST of the server.
func ending(segments []Segment) (Ending, bool) {
	last := slices.IndexFunc(segments, func(s Segment) bool { return s.FromServer && (s.FIN || s.RST) })
	if last < 0 {
		return Ending{}, false
	}
	closing := segments[last]
	e := Ending{At: closing.At}
	if closing.RST {
		e.RST = closing.At
	} else {
		e.FIN = closing.At
	}
	var answered time.Time
	for _, s := range slices.Backward(segments[:last+1]) {
		if !s.FromServer || s.Data == 0 {
			continue
		}
		if closing.At.Sub(s.At) < pushedWithin {
			e.At, e.Pushed = s.At, e.Pushed+s.Data
			continue
		}
		answered = s.At
		break
	}
	e.Idle = e.At.Sub(answered)
	// Where both ends are far apart a segment that left after the FIN may not
	// have seen it: its own acknowledgement tells.
	behind := closing.Seq + uint32(closing.Data) + 1
	asked := sentBy(segments, answered)
	for _, s := range segments {
		if s.FromServer || s.Data == 0 || !s.At.After(answered) || (closing.FIN && !before(s.Ack, behind)) {
			continue
		}
		if asked != nil && !before(*asked, s.Seq+uint32(s.Data)) {
			continue // sent again, since an acknowledgement was late: it was answered before
		}
		e.Asked = true
		e.Crossed = e.Crossed || before(closing.Ack, s.Seq+uint32(s.Data))
	}
	return e, true
}

// sentBy is the sequence number up to which the client had sent data by then; nil:
// it had sent none.
func sentBy(segments []Segment, by time.Time) *uint32 {
	var last *uint32
	for _, s := range segments {
		if s.FromServer || s.Data == 0 || s.At.After(by) {
			continue
		}
		if end := s.Seq + uint32(s.Data); last == nil || before(*last, end) {
			last = &end
		}
	}
	return last
}

// before compares sequence numbers, which wrap around.
func before(a, b uint32) bool { return int32(a-b) < 0 }
