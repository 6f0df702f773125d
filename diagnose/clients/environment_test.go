package clients

import "testing"

// TestEveryClientIsKnownToReadProxies: or not to.
func TestEveryClientIsKnownToReadProxies(t *testing.T) {
	reads := 0
	for _, kind := range Kinds() {
		e, known := ReadsEnvironment(kind)
		if !known || e.How == "" || e.All && !e.Reads {
			t.Errorf("%s: %+v, known: %v", kind, e, known)
		}
		if e.Reads {
			reads++
		}
	}
	if reads != 5 {
		t.Errorf("%d clients read the environment, want 5", reads)
	}
	if _, known := ReadsEnvironment("abacus"); known {
		t.Error("an unknown client is known")
	}
}
