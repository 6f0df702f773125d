package diagnose

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// TestBesideTheBand: what is said to be outside of a band is, as it is printed.
func TestBesideTheBand(t *testing.T) {
	const ms = time.Millisecond
	band := probes.Band{From: 1996 * ms, To: 2 * time.Second}
	for _, tt := range []struct {
		age  time.Duration
		band probes.Band
		want string
	}{
		{3 * time.Second, band, "3 s, 1.996 s to 2 s"},
		{2*time.Second + 300*time.Microsecond, band, "2.0003 s, 1.996 s to 2 s"},
		{2*time.Second + 7, band, "2.00000001 s, 1.996 s to 2 s"},
		{2 * time.Second, band, "2 s, 1.996 s to just below 2 s"},
		{1996*ms - 40*time.Microsecond, band, "1.99596 s, 1.996 s to 2 s"},
		{1996*ms - 40*time.Microsecond, probes.Band{From: 1996 * ms, Open: true}, "1.99596 s, 1.996 s and longer"},
		{12*time.Minute + 1, probes.Band{From: time.Minute, To: 12 * time.Minute}, "720.000000001 s, 60 s to 720 s"},
	} {
		if at, words := beside(tt.age, tt.band); at+", "+words != tt.want {
			t.Errorf("%q, %q, want %q", at, words, tt.want)
		}
	}
	rng := rand.New(rand.NewPCG(4, 2))
	for range 5000 {
		b := probes.Band{From: time.Duration(1e6 + rng.Int64N(1e10))}
		b.To, b.Open = b.From+time.Duration(1e6+rng.Int64N(1e10)), rng.IntN(4) == 0
		age := b.To + time.Duration(rng.Int64N(2e6))
		if b.Open || rng.IntN(2) == 0 {
			age = b.From - 1 - time.Duration(rng.Int64N(1e6))
		}
		if clients.Holds(&b, age) {
			t.Fatalf("%s lies in %+v", age, b)
		}
		at, words := beside(age, b)
		from, to, closed := strings.Cut(strings.TrimSuffix(words, " and longer"), " to ")
		if inSeconds(t, at) >= inSeconds(t, from) && (!closed || inSeconds(t, at) <= inSeconds(t, to)) && !strings.HasPrefix(to, "just below ") {
			t.Fatalf("%s of %+v: %q lies in %q", age, b, at, words)
		}
	}
}

// inSeconds is a duration as people write it, in seconds.
func inSeconds(t *testing.T, text string) float64 {
	t.Helper()
	number, unit, _ := strings.Cut(strings.TrimPrefix(text, "just below "), " ")
	v, err := strconv.ParseFloat(number, 64)
	scale, known := map[string]float64{"ms": 1e-3, "s": 1, "min": 60}[unit]
	if err != nil || !known {
		t.Fatalf("%q: %v", text, err)
	}
	return v * scale
}
