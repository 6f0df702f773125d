package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const grid = 25 * time.Millisecond // divides every guarded window used here

// meets counts, by the definition, the bookings that the window [x, x+length)
// meets.
func meets(bs []Booking, x, length time.Duration) int {
	n := 0
	for _, b := range bs {
		if b.From < x+length && b.last() >= x {
			n++
		}
	}
	return n
}

// busiestWindow returns the largest number of bookings in any window. The
// number can only grow where a window's end passes a booking's From, and is
// greatest just before its start passes a To: both are tried.
func busiestWindow(bs []Booking, length time.Duration) int {
	most := 0
	for _, b := range bs {
		most = max(most, meets(bs, b.From-length+1, length), meets(bs, b.last(), length))
	}
	return most
}

// fitsByDefinition looks at every window that meets what is added.
func fitsByDefinition(c *Calendar, held, add []Booking) bool {
	all := append(slices.Clone(held), add...)
	for _, b := range all {
		for _, x := range []time.Duration{b.From - c.guarded + 1, b.last()} {
			if meets(add, x, c.guarded) > 0 && meets(all, x, c.guarded) > c.allowed {
				return false
			}
		}
	}
	return true
}

func shifted(bs []Booking, t time.Duration) []Booking {
	out := slices.Clone(bs)
	for i := range out {
		out[i].From += t
		out[i].To += t
	}
	return out
}

func randomBookings(r *rand.Rand, n int) []Booking {
	bs := make([]Booking, n)
	for i := range bs {
		from := time.Duration(r.IntN(400)) * grid
		bs[i] = Booking{from, from + time.Duration(r.IntN(30))*grid*time.Duration(r.IntN(2))}
	}
	return bs
}

func values(c *Calendar) []Booking {
	var bs []Booking
	for _, b := range c.booked {
		bs = append(bs, b)
	}
	return bs
}

func TestWindowAndAllowed(t *testing.T) {
	tests := []struct {
		rate    float64
		window  time.Duration
		allowed int
	}{
		{1, 2 * time.Second, 2},
		{0.5, 4 * time.Second, 2},
		{0.3, 6666666667, 2},
		{2, time.Second, 2},
		{2.999, time.Second, 2},
		{3, time.Second, 3},
		{10 * 0.7, time.Second, 7},
		{20 * 0.05, 2 * time.Second, 2},
		{100 * 0.29, time.Second, 29}, // 28.999999999999996
		{0, longestWindow, 2},
		{-1, longestWindow, 2},
		{1e-300, longestWindow, 2},
		{math.NaN(), longestWindow, 2},
	}
	for _, test := range tests {
		c := NewCalendar(test.rate)
		if c.Window() != test.window || c.Allowed() != test.allowed {
			t.Errorf("rate %v: window %v, allowed %d, want %v, %d",
				test.rate, c.Window(), c.Allowed(), test.window, test.allowed)
		}
	}
}

func TestAWindowsEnd(t *testing.T) {
	c := NewCalendar(2) // two in 1.05 s
	if _, ok := c.Book(At(0), At(0)); !ok {
		t.Fatal("two requests at once do not fit an empty calendar of 2/s")
	}
	if c.Fits(At(1050*time.Millisecond - 1)) {
		t.Error("a third request fits 1 ns short of a window and 5%")
	}
	if !c.Fits(At(1050 * time.Millisecond)) {
		t.Error("a third request does not fit a window and 5% later")
	}
	if c.Fits(At(-1)) || !c.Fits(At(-1050*time.Millisecond)) {
		t.Error("the window before the two is not guarded as the one after")
	}
	if got := c.Earliest(0, At(0)); got != 1050*time.Millisecond {
		t.Errorf("earliest start %v, want 1.05s", got)
	}
}

func TestFitsByDefinition(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := NewCalendar([]float64{0.5, 0.8, 1, 2, 3.5, 5, 8}[r.IntN(7)])
		for _, b := range randomBookings(r, 40) {
			if r.IntN(10) == 0 {
				c.Force(0, b)
			} else {
				c.Book(b)
			}
		}
		for range 40 {
			add := randomBookings(r, 1+r.IntN(3))
			if got, want := c.Fits(add...), fitsByDefinition(c, values(c), add); got != want {
				t.Fatalf("seed %d: fits %v: %t, want %t", seed, add, got, want)
			}
		}
	}
}

func TestEarliestIsTheFirstThatFits(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := NewCalendar([]float64{0.5, 0.8, 1, 2, 3.5, 5, 8}[r.IntN(7)])
		for _, b := range randomBookings(r, r.IntN(60)) {
			c.Book(b)
		}
		held := values(c)
		for range 10 {
			shape := randomBookings(r, 1+r.IntN(3))
			after := time.Duration(r.IntN(200)-50) * grid
			got := c.Earliest(after, shape...)
			want := after
			for !fitsByDefinition(c, held, shifted(shape, want)) && want < time.Minute { // by then nothing is booked any more
				want += grid
			}
			if want >= time.Minute {
				want = Never
			}
			if got != want {
				t.Fatalf("seed %d: earliest %v after %v: %v, want %v", seed, shape, after, got, want)
			}
			if got != Never && got > after && c.Fits(shifted(shape, got-1)...) {
				t.Fatalf("seed %d: %v fits 1 ns before its earliest start %v", seed, shape, got)
			}
		}
	}
}

func TestNoWindowIsEverOverfull(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := NewCalendar(0.5 + r.Float64()*10)
		var slots []Slot
		for range 300 {
			b := randomBookings(r, 1+r.IntN(3))
			switch r.IntN(4) {
			case 0, 1:
				got, _ := c.Book(b...)
				slots = append(slots, got...)
			case 2:
				if len(slots) > 0 {
					c.Move(slots[r.IntN(len(slots))], b[0])
				}
			case 3:
				if len(slots) > 0 {
					c.Release(slots[r.IntN(len(slots))])
				}
			}
		}
		held := values(c)
		if got := busiestWindow(held, c.guarded); got > c.allowed {
			t.Fatalf("seed %d: %d bookings in a window, allowed %d", seed, got, c.allowed)
		}
		if got, want := c.Peak(), busiestWindow(held, time.Second); got != float64(want) {
			t.Fatalf("seed %d: peak %v, want %d", seed, got, want)
		}
		if got, want := c.load.max(), busiestWindow(held, c.guarded); got != want {
			t.Fatalf("seed %d: load %d, want %d", seed, got, want)
		}
		for s := range c.Clone().booked {
			c.Release(s)
		}
		if len(c.load) != 0 {
			t.Fatalf("seed %d: an empty calendar still has load %v", seed, c.load)
		}
	}
}

func TestBookIsAllOrNone(t *testing.T) {
	c := NewCalendar(2)
	if slots, ok := c.Book(At(0), At(0), At(0)); ok || slots != nil || len(c.booked) != 0 {
		t.Errorf("three at once at 2/s: %v, %t, booked %v", slots, ok, c.booked)
	}
	if slots, ok := c.Book(); !ok || len(slots) != 0 {
		t.Errorf("booking nothing: %v, %t", slots, ok)
	}
}

func TestMove(t *testing.T) {
	c := NewCalendar(2)
	first, _ := c.Book(Booking{0, time.Second}, Booking{0, time.Second})
	later, _ := c.Book(At(10 * time.Second))

	if c.Move(later[0], At(1500*time.Millisecond)) {
		t.Error("a third request moved into a full window")
	}
	if c.booked[later[0]] != At(10*time.Second) {
		t.Errorf("a refused move left %v", c.booked[later[0]])
	}
	if !c.Move(first[0], At(500*time.Millisecond)) || !c.Move(first[1], At(0)) {
		t.Error("a booking may not shrink")
	}
	if !c.Move(later[0], At(1550*time.Millisecond)) {
		t.Error("what was released by shrinking is not free")
	}
	if c.Move(99, At(0)) || c.Move(0, At(0)) {
		t.Error("a slot that is not booked moved")
	}
}

func TestForceCountsAndShrinkingStillFits(t *testing.T) {
	c := NewCalendar(2)
	slots, _ := c.Book(Booking{0, time.Second}, At(0))
	c.Force(0, At(0))
	if c.Fits(At(0)) || c.Peak() != 3 {
		t.Errorf("after a forced third: fits %t, peak %v", c.Fits(At(0)), c.Peak())
	}
	if !c.Move(slots[0], At(500*time.Millisecond)) {
		t.Error("a booking may not shrink in an overfull window")
	}
	if c.Move(slots[0], At(400*time.Millisecond)) {
		t.Error("a booking moved within an overfull window")
	}
	if !c.Move(slots[0], At(time.Minute)) {
		t.Error("a booking may not leave an overfull window")
	}
	c.Release(slots[1])
	c.Force(slots[1], At(time.Hour))
	if c.booked[slots[1]] != At(time.Hour) {
		t.Error("a forced booking on a released slot is not there")
	}
}

func TestEndsTheWrongWayRound(t *testing.T) {
	c := NewCalendar(2)
	slots, ok := c.Book(Booking{time.Second, 0}, At(time.Second))
	if !ok || c.Fits(At(time.Second)) {
		t.Error("a booking with To before From does not count as an instant at From")
	}
	c.Release(slots[0])
	c.Release(slots[1])
	if len(c.load) != 0 {
		t.Errorf("load left: %v", c.load)
	}
}

func TestCloneIsApart(t *testing.T) {
	c := NewCalendar(2)
	slots, _ := c.Book(At(0), At(0))
	clone := c.Clone()
	clone.Release(slots[0])
	if c.Fits(At(0)) || !clone.Fits(At(0)) {
		t.Error("a clone shares its bookings with the original")
	}
	c.Release(slots[0])
	fresh, _ := c.Book(At(0))
	if _, taken := clone.booked[fresh[0]]; taken {
		t.Error("the original's new slot shows in the clone")
	}
}

func TestForgetKeepsThePromise(t *testing.T) {
	c := NewCalendar(2)
	c.Book(At(0), At(0))
	c.Book(At(5 * time.Second))
	c.Book(Booking{4 * time.Second, 8 * time.Second})
	now := 5500 * time.Millisecond
	c.Forget(now)
	if len(c.booked) != 2 {
		t.Errorf("booked after forgetting: %v, want the one at 5s and the open one", c.booked)
	}
	if c.Fits(At(now)) {
		t.Error("forgetting made room in a window that is still open")
	}
	c.Forget(time.Hour)
	if len(c.booked) != 0 || len(c.load) != 0 {
		t.Errorf("left after an hour: %v, %v", c.booked, c.load)
	}
	if c.Peak() != 2 {
		t.Errorf("peak %v, want the 2 of the past", c.Peak())
	}
}

func ExampleCalendar_Earliest() {
	c := NewCalendar(2)
	c.Book(At(0), At(0))
	fmt.Println(c.Earliest(0, At(0), At(time.Second)))
	// Output: 1.05s
}
