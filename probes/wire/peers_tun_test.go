//go:build peers && linux

package wire_test

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Packets to farThere come back, oneWay later, as packets from farThere to
// farHere: the machine speaks to itself over a distance.
const (
	farHere  = "10.9.0.1"
	farThere = "10.9.0.2"
	farName  = "far0"
)

// layNetwork brings up the loopback and the far network of this namespace.
func layNetwork(t *testing.T) {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("opening the TUN device: %v", err)
	}
	tun, err := unix.NewIfreq(farName)
	if err != nil {
		t.Fatal(err)
	}
	tun.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, tun); err != nil {
		t.Fatalf("making the TUN device: %v", err)
	}
	if err := errors.Join(setAddr(unix.SIOCSIFADDR, farHere), setAddr(unix.SIOCSIFNETMASK, "255.255.255.0"), up(farName), up("lo")); err != nil {
		t.Fatalf("bringing the network up: %v", err)
	}
	device := os.NewFile(uintptr(fd), "tun")
	t.Cleanup(func() { _ = device.Close() })
	go relay(device)
}

func setAddr(request uint, addr string) error {
	r, err := unix.NewIfreq(farName)
	if err != nil {
		return err
	}
	ip := netip.MustParseAddr(addr).As4()
	if err := r.SetInet4Addr(ip[:]); err != nil {
		return err
	}
	return ioctl(request, r)
}

func up(name string) error {
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return ioctl(unix.SIOCSIFFLAGS, r)
}

func ioctl(request uint, r *unix.Ifreq) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.IoctlIfreq(fd, request, r)
}

// packet is on its way until due.
type packet struct {
	due  time.Time
	data []byte
}

// relay swaps the addresses of each packet, which leaves its checksums right,
// and gives it back after oneWay, in order.
func relay(device *os.File) {
	onTheWay := make(chan packet, 1<<16)
	go func() {
		for p := range onTheWay {
			time.Sleep(time.Until(p.due))
			_, _ = device.Write(p.data) // a packet that is lost is a lost packet
		}
	}()
	defer close(onTheWay)
	for {
		b := make([]byte, 2048)
		n, err := device.Read(b)
		if err != nil {
			return
		}
		if n < 20 || b[0]>>4 != 4 {
			continue
		}
		from, to := binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint32(b[16:])
		binary.BigEndian.PutUint32(b[12:], to)
		binary.BigEndian.PutUint32(b[16:], from)
		onTheWay <- packet{time.Now().Add(oneWay), b[:n]}
	}
}
