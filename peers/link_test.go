//go:build peers

package peers

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// The two ends of a link.
const (
	clientIP = "10.77.0.1"
	serverIP = "10.77.0.2"
)

// Link is a path between two network namespaces whose round trip takes a given
// time. Its ends are kernels of their own in all that matters to TCP, so that
// acknowledgements and FINs cross on the way as on a long line.
type Link struct {
	client, server *namespace
	mu             sync.Mutex
	captures       []*Capture
}

// Delay joins two namespaces for the length of the test. Segments keep their
// order. It needs root.
func Delay(t *testing.T, rtt time.Duration) *Link {
	t.Helper()
	l := &Link{client: newNamespace(t, clientIP), server: newNamespace(t, serverIP)}
	var relays sync.WaitGroup
	relays.Go(func() { l.carry(l.client.tun, l.server.tun, rtt/2) })
	relays.Go(func() { l.carry(l.server.tun, l.client.tun, rtt/2) })
	t.Cleanup(func() {
		_ = l.client.tun.Close()
		_ = l.server.tun.Close()
		relays.Wait()
	})
	return l
}

// ServerIP is the address of the far end, the one to listen on.
func (l *Link) ServerIP() string { return serverIP }

// Dial opens a connection from the near end. It fits where perch takes a dial
// function, and leaves TCP keep-alive off as perch does. The address has to be
// an IP's.
func (l *Link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	err := l.client.inside(func() (err error) {
		d := net.Dialer{KeepAlive: -1}
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// DialTCP is Dial without a context.
func (l *Link) DialTCP(network, address string) (net.Conn, error) {
	return l.Dial(context.Background(), network, address)
}

// Listen listens at the far end.
func (l *Link) Listen(network, address string) (net.Listener, error) {
	var ln net.Listener
	err := l.server.inside(func() (err error) {
		ln, err = net.Listen(network, address)
		return err
	})
	return ln, err
}

// Capture records the segments to and from a port of the far end from now on,
// each with the time at which it left its sender.
func (l *Link) Capture(serverPort uint16) *Capture {
	c := &Capture{port: serverPort}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.captures = append(l.captures, c)
	return c
}

func (l *Link) note(packet []byte, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.captures {
		c.add(packet, at)
	}
}

// onTheWay is a packet and the time at which it arrives.
type onTheWay struct {
	packet []byte
	due    time.Time
}

// carry moves packets from one device to the other, each after the delay, until
// the devices are closed.
func (l *Link) carry(from, to *os.File, delay time.Duration) {
	line := make(chan onTheWay, 8192)
	var far sync.WaitGroup
	far.Go(func() {
		for p := range line {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.packet); errors.Is(err, os.ErrClosed) {
				return
			}
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			break
		}
		at := time.Now()
		l.note(buffer[:n], at)
		select {
		case line <- onTheWay{append([]byte(nil), buffer[:n]...), at.Add(delay)}:
		default: // a full queue drops, as a router's does
		}
	}
	close(line)
	far.Wait()
}
