package wire_test

import (
	"fmt"

	"perch.example/probes/wire"
)

// dump writes evidence out, snapshots included.
func dump(e wire.Evidence) string {
	s := fmt.Sprintf("%+v\n", e)
	for name, snap := range map[string]*wire.Snapshot{"before": e.Before, "after": e.After, "first": e.First, "last": e.Last} {
		if snap != nil {
			s += fmt.Sprintf("%s %+v\n", name, *snap)
		}
	}
	return s
}
