package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestAnEndThatNobodySawIsNotCalledMeasured: only what worked is safe there.
func TestAnEndThatNobodySawIsNotCalledMeasured(t *testing.T) {
	const s = time.Second
	const measured, unseen, nothing, odd = "from what was measured less a margin", "which worked, and 6 min", "A shorter --max would tell", "contradict each other"
	for _, tt := range []struct {
		name       string
		idle       probes.IdleResult
		want, none string
	}{
		{"seen", probes.IdleResult{Survived: 50 * s, Died: 70 * s, Measured: 60 * s, How: "fin"}, measured, "none of its own settings ends the band"},
		{"unseen", probes.IdleResult{Survived: 120 * s, Died: 360 * s, How: "silent"}, unseen, "none of its own settings ends the band"},
		{"nothing worked", probes.IdleResult{Died: 40 * s, How: "silent"}, nothing, "not known: no hold is known to be safe"},
		{"contradiction", probes.IdleResult{Survived: 120 * s, Died: 40 * s, How: "silent"}, odd, "not known: no hold is known to be safe"},
	} {
		run := probes.Run{
			Idle:    []probes.IdleResult{tt.idle},
			Clients: []probes.ClientOutcome{{Kind: "requests", Band: &probes.Band{Open: true}, Result: probes.ClientFails, Experiences: "raises it"}},
		}
		var b bytes.Buffer
		if err := Idle(&b, run, Style{}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		for _, words := range []string{measured, unseen, nothing, odd} {
			if strings.Contains(got, words) != (words == tt.want) {
				t.Errorf("%s: %q is said: %t\n%s", tt.name, words, words != tt.want, b.String())
			}
		}
		if !strings.Contains(got, tt.none) {
			t.Errorf("%s: want %q\n%s", tt.name, tt.none, b.String())
		}
	}
}
