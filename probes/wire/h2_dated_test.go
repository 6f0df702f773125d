package wire

import (
	"net"
	"testing"
	"time"
)

// shown is a kernel that shows one snapshot.
type shown struct {
	kernel
	s Snapshot
}

func (k shown) watch(see func(*Snapshot) bool) error {
	s := k.s
	see(&s)
	return nil
}

// TestH2LookedNotTaken: what a look showed and the hold's end kept from being read
// had come by then: its date is not that of the next look.
func TestH2LookedNotTaken(t *testing.T) {
	for name, passed := range map[string]bool{"in time": false, "the hold's end has passed": true} {
		here, there := net.Pipe()
		t.Cleanup(func() { _, _ = here.Close(), there.Close() })
		now := time.Now()
		ping := []byte{0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8} // an answer to one: nothing is sent
		c := &Conn{raw: here, h2: &h2{settled: true}, idle: idleRecord{frames: true},
			kern: shown{s: Snapshot{At: now, State: StateEstablished, Queued: len(ping)}}}
		c.tap.Conn = here
		if passed {
			_ = here.SetReadDeadline(past())
		} else {
			go func() { _, _ = there.Write(ping) }()
		}
		if err := c.awaitFrames(false); err != nil {
			t.Fatal(err)
		}
		if got := c.h2.looked.Equal(now); got == passed {
			t.Errorf("%s: nothing had come by the look: %t, want %t", name, got, !passed)
		}
	}
}

// TestH2ClosedBy: a GOAWAY is dated by when data came, however late perch looked
// and whatever came behind it, and never before a look that did not show it.
func TestH2ClosedBy(t *testing.T) {
	since := time.Now()
	at := func(ms int) time.Time { return since.Add(time.Duration(ms) * time.Millisecond) }
	ms := time.Millisecond
	for name, tt := range map[string]struct {
		s         Snapshot
		looked    time.Time
		came, res time.Duration
	}{
		"in time":            {Snapshot{State: StateEstablished, Queued: 17, LastDataRecv: 4 * ms, LastAckRecv: 900 * ms}, at(1), 2000 * ms, 4 * ms},
		"late":               {Snapshot{State: StateEstablished, Queued: 17, LastDataRecv: 40 * ms, LastAckRecv: 900 * ms}, at(1), 1960 * ms, 44 * ms},
		"late, a FIN behind": {Snapshot{State: StateCloseWait, Queued: 17, LastDataRecv: 40 * ms, LastAckRecv: 12 * ms}, at(1), 1960 * ms, 44 * ms},
		"looked meanwhile":   {Snapshot{State: StateEstablished, Queued: 17, LastDataRecv: 40 * ms}, at(1990), 1990 * ms, 14 * ms},
		"never looked":       {Snapshot{State: StateEstablished, Queued: 17, LastDataRecv: 3000 * ms}, time.Time{}, 0, 2004 * ms},
	} {
		c := &Conn{h2: &h2{looked: tt.looked}, idleSince: since}
		tt.s.At = at(2000)
		got := c.closedBy("goaway", &tt.s)
		if got.Age != tt.came || !got.At.Equal(since.Add(tt.came)) || got.Resolution != tt.res || got.State != "goaway" {
			t.Errorf("%s: %+v, want at %s, known to %s", name, got, tt.came, tt.res)
		}
	}
}
