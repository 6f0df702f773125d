package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// march is what the target's owner lives with until then.
func march() *probes.Accepted {
	return &probes.Accepted{
		Diagnosis: probes.DiagnosisEarlyClose, Until: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Reason: "partner will raise it in March",
	}
}

func TestAccepted(t *testing.T) {
	fail := single("shop", "idle", probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection)
	accepted, lapsed := fail, fail
	accepted.Accepted, lapsed.Lapsed = march(), march()
	all := map[byte]probes.Run{
		'F': runOf(fail), 'A': runOf(accepted), 'L': runOf(lapsed), 'g': runOf(single("shop", "idle", probes.VerdictPass, "", "")),
		'B': runOf(fail, accepted), // another rung of it is outside of what is accepted
	}
	tests := []struct{ name, runs, want string }{
		{"opens nothing", "AAAA", "...."},
		{"counts as good", "FFAA", ".F.R"},
		{"with good ones", "FFgA", ".F.R"},
		{"what is not accepted fires beside it", "BB", ".F"},
		{"and does not resolve", "FFBBB", ".F..."},
		{"when it has lapsed it fires", "AALL", "...F"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sequence []probes.Run
			for _, c := range []byte(tt.runs) {
				sequence = append(sequence, all[c])
			}
			_, told := decideAll(options, sequence...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
		})
	}
	_, told := decideAll(options, all['F'], all['F'], all['A'], all['A'])
	text := strings.Join(strings.Fields(Text(told[3][0])), " ")
	for _, want := range []string{"Accepted until 2026-03-31 (partner will raise it in March)", "It is not mended", "When the acceptance ends", "accepted no connection (refused)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the resolve lacks %q:\n%s", want, text)
		}
	}
	_, told = decideAll(options, all['L'], all['L'])
	text = strings.Join(strings.Fields(Text(told[1][0])), " ")
	if want := "It was accepted until 2026-03-31 (partner will raise it in March), and no longer is."; !strings.Contains(text, want) {
		t.Errorf("the opening lacks %q:\n%s", want, text)
	}
}
