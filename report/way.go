package report

import (
	"fmt"
	"strings"

	"perch.example/probes"
)

// of says which of a host's addresses an attempt was for, before what it showed;
// empty: the host was meant, or the attempt before was of the same.
func of(attempts []probes.Attempt, i int) string {
	a := attempts[i].Address
	if !a.IsValid() || i > 0 && attempts[i-1].Address == a {
		return ""
	}
	return a.String() + ": "
}

// pinned says below a ladder which of its connections stayed on an address that
// DNS no longer names: the longest of them.
func (p *page) pinned(outcomes []*probes.Outcome) {
	for i := len(outcomes) - 1; i >= 0; i-- {
		a := attempt(outcomes[i], probes.ConnectionReused)
		if a == nil || a.PinnedIP == nil {
			continue
		}
		const most = 3
		var now []string
		for _, b := range a.PinnedIP.Now[:min(most, len(a.PinnedIP.Now))] {
			now = append(now, b.String())
		}
		p.hang([]span{plain(margin)}, span{inkWarn, fmt.Sprintf("at %s the connection was still on %s; DNS names %s now, and a pool stays where it is",
			idleAge(outcomes[i]), a.PinnedIP.Address, strings.Join(now, ", "))})
		return
	}
}
