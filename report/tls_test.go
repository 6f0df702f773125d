package report

import (
	"testing"
	"time"

	"perch.example/probes"
)

// What ends first is what a line of kind tls says, an authority of tls.ca_file
// included.
func TestShownUntilWhatEndsFirst(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2027, 2, day, 0, 0, 0, 0, time.UTC) }
	leaf := probes.Certificate{Subject: "api.example", Issuer: "Issuing", NotAfter: at(20)}
	mid := probes.Certificate{Subject: "Issuing", Issuer: "Root", NotAfter: at(10), Authority: true}
	root := func(day int) probes.Certificate {
		return probes.Certificate{Subject: "Root", Issuer: "Root", NotAfter: at(day), Authority: true, Root: true}
	}
	for _, c := range []struct {
		earliest, anchor probes.Certificate
		want             string
	}{
		{leaf, probes.Certificate{}, "good until 2027-02-20"},
		{leaf, root(25), "good until 2027-02-20"},
		{leaf, root(5), `good until the end of "Root" in tls.ca_file, 2027-02-05`},
		{mid, root(15), `good until the end of "Issuing", 2027-02-10`},
		{mid, root(5), `good until the end of "Root" in tls.ca_file, 2027-02-05`},
	} {
		o := &probes.Outcome{Attempts: []probes.Attempt{{TLS: &probes.TLSFacts{Version: "1.3", Leaf: leaf, Earliest: c.earliest, Anchor: c.anchor}}}}
		if got, want := shown(o), `TLS 1.3, certificate of "api.example" by "Issuing", `+c.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		j := newTLS(*o)
		if (j.Anchor != nil) != (c.anchor != probes.Certificate{}) || j.Anchor != nil && !j.Anchor.Root {
			t.Errorf("%+v", j)
		}
	}
}
