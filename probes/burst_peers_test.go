//go:build peers

package probes

import "testing"

// TestBurstOn200ClosedConnections is ten pools of twenty.
func TestBurstOn200ClosedConnections(t *testing.T) { burstsOnClosed(t, 10) }
