package report

import (
	"net/netip"

	"perch.example/probes"
)

// pinnedJSON is an address that a connection stayed on after its name had moved.
type pinnedJSON struct {
	Address string   `json:"address"`
	Now     []string `json:"now"`
}

func newPinned(p *probes.PinnedIP) *pinnedJSON {
	if p == nil {
		return nil
	}
	out := &pinnedJSON{Address: p.Address.String(), Now: []string{}}
	for _, a := range p.Now {
		out.Now = append(out.Now, a.String())
	}
	return out
}

// bare is an address, or nothing where there is none.
func bare(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}
