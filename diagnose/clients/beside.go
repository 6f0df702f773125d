package clients

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// Beside says what the application's retry layer sees where its list holds only
// the error on the other side of the wrapper, so that a reader who finds the
// one in the list knows why the other counts. Errors are named without their
// package: the full names stand in Experience. Empty: it is not so.
func Beside(decl probes.Client, reason probes.Reason, method string, idle time.Duration) string {
	m := meet(decl, reason, method, idle)
	if m.wrapper == nil || m.cover() != probes.CoverUncovered || decl.Retry.Attempts == 1 || !decl.Retry.Repeats(method) {
		return ""
	}
	layer, where := decl.Retry.Layer, ", before the wrapping"
	switch layer {
	case probes.LayerInside:
		decl = onLayer(decl, probes.LayerAround)
	case probes.LayerAround:
		decl, where = onLayer(decl, probes.LayerInside), ", after the wrapping"
	default:
		return ""
	}
	other := meet(decl, reason, method, idle)
	holds := slices.ContainsFunc(other.seen(), func(name string) bool { return listed(decl.Retry.Errors, name) })
	seen := m.seen()
	if !holds || len(seen) == 0 {
		return ""
	}
	name := classOnly(seen[0])
	if m.effect.Does == Returns && layer == probes.LayerInside {
		name, where = "the answer "+name, ", not yet an error"
	}
	return fmt.Sprintf("the retry layer %s %s sees %s%s: its list does not hold that", layer, m.wrapper.name, name, where)
}

// classOnly is a class without its package.
func classOnly(name string) string { return name[strings.LastIndex(name, ".")+1:] }
