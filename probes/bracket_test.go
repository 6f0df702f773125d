package probes

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestASearchNarrows: whatever the true bound, and however many connections are
// held at once, each round leaves one part of the bracket around it, until the
// resolution is reached, in as few rounds as that takes.
func TestASearchNarrows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	for range 5000 {
		low := time.Duration(r.Int64N(int64(time.Minute)))
		b := Bracket{Survived: low, Died: low + time.Millisecond + time.Duration(r.Int64N(int64(5*time.Minute)))}
		bound := b.Survived + 1 + time.Duration(r.Int64N(int64(b.Died-b.Survived)))
		k := 1 + r.IntN(8)
		for round := 0; ; round++ {
			holds := b.Cut(k)
			if len(holds) == 0 {
				break
			}
			if round > 20 {
				t.Fatalf("%+v with %d at once does not end", b, k)
			}
			before := b
			for _, hold := range holds {
				if hold <= before.Survived || hold >= before.Died {
					t.Fatalf("%s is not inside %+v", hold, before)
				}
				if hold < bound {
					b.Survived = max(b.Survived, hold)
				} else {
					b.Died = min(b.Died, hold)
				}
			}
			if len(holds) > k {
				t.Fatalf("%d holds at once, want at most %d", len(holds), k)
			}
			if most := before.Width()/time.Duration(len(holds)+1) + 2*time.Millisecond; b.Width() > most {
				t.Fatalf("%d holds leave %s of %s, want at most %s", len(holds), b.Width(), before.Width(), most)
			}
			if len(holds) < k && !b.Narrow() {
				t.Fatalf("%d holds of %d leave %s of %+v: more were wanted", len(holds), k, b.Width(), before)
			}
			if b.Survived >= bound || b.Died < bound {
				t.Fatalf("%+v has lost the bound %s", b, bound)
			}
		}
		if !b.Narrow() {
			t.Fatalf("%+v is given up at %s", b, b.Width())
		}
	}
}

// TestTwoSecondsInTwoRounds: with the five rungs that a plan adds, [2, 4) is
// narrow after two more runs.
func TestTwoSecondsInTwoRounds(t *testing.T) {
	t.Parallel()
	for bound := 2 * time.Second; bound < 4*time.Second; bound += 7 * time.Millisecond {
		b := Bracket{Survived: 2 * time.Second, Died: 4 * time.Second}
		for range 2 {
			for _, hold := range b.Cut(5) {
				if age := hold + 3*time.Millisecond; age < bound { // a reuse is a little later than its hold
					b.Survived = max(b.Survived, age)
				} else {
					b.Died = min(b.Died, age)
				}
			}
		}
		if !b.Narrow() || b.Cut(5) != nil {
			t.Errorf("bound %s: %s to %s after two rounds", bound, b.Survived, b.Died)
		}
	}
}

func TestWhatNeedsNoSearch(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, b := range map[string]Bracket{
		"nothing is known":         {},
		"nothing died":             {Survived: 5 * s},
		"a close was seen":         {Survived: 2 * s, Died: 4 * s, Measured: 3 * s},
		"one that is no bracket":   {Survived: 4 * s, Died: 2 * s},
		"looked for long enough":   {Survived: 2 * s, Died: 4 * s, Tries: enoughTries},
		"1% of a long one":         {Survived: 346500 * time.Millisecond, Died: 350 * s},
		"the least width of small": {Survived: 2900 * time.Millisecond, Died: 3 * s},
	} {
		if holds := b.Cut(5); holds != nil {
			t.Errorf("%s: %v", name, holds)
		}
	}
}
