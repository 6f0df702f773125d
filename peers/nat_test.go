//go:build peers

package peers

import (
	"sync"
	"testing"

	"perch.example/internal/stood"
)

// TestBehindANAT is all that is tested on a path that forgets, each on a path of
// its own and all at once: they do nothing but wait, so that -parallel, which is
// for tests that work, is no limit for them. Each returns what was wrong.
func TestBehindANAT(t *testing.T) {
	t.Parallel()
	if _, err := buildPerch(); err != nil { // takes longer than some of them wait
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for name, play := range map[string]func(*testing.T) []string{
		"forgets, drops":                        natThatForgets(forgotDrop, "blackhole"),
		"forgets, resets":                       natThatForgets(forgotReject, "reset"),
		"drops, TCP keep-alive":                 natAndTCPKeepAlive(forgotDrop),
		"resets, TCP keep-alive":                natAndTCPKeepAlive(forgotReject),
		"forgets later than before":             natThatForgetsLater,
		"perch idle, drops":                     perchIdleBehindANAT(forgotDrop, "blackhole", "silent"),
		"perch idle, resets":                    perchIdleBehindANAT(forgotReject, "reset", "rst"),
		"perch idle, drops, TCP keep-alive":     perchIdleWithPackets,
		"cut: an entry of the table is deleted": pathThatIsCut("silent_drop", entryDeleted),
		"cut: a link goes down":                 pathThatIsCut("unreachable", linkDown),
		"cut: a route leads nowhere":            pathThatIsCut("unreachable", routeToNowhere),
	} {
		all.Go(func() {
			t.Run(name, func(t *testing.T) { stood.Again(t, stood.Moment, func() []string { return play(t) }) })
		})
	}
	all.Wait()
}
