package clients

import "testing"

// TestEveryClientIsKnownToSpeakHTTP2 or not to; those that were measured over it do.
func TestEveryClientIsKnownToSpeakHTTP2(t *testing.T) {
	for _, kind := range Kinds() {
		s, known := SpeaksHTTP2(kind)
		c, _ := Lookup(kind)
		if !known || s.Chooses && !s.HTTP2 || len(c.HTTP2) > 0 && !s.HTTP2 || (s.HTTP2 && !s.Chooses) != (s.How != "") {
			t.Errorf("%s: %+v, known: %t", kind, s, known)
		}
	}
	if _, known := SpeaksHTTP2("abacus"); known {
		t.Error("an unknown client is known")
	}
}
