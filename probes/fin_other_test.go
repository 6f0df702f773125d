//go:build !linux

package probes

import (
	"net"
	"testing"
	"time"
)

// awaitFIN waits for as long as loopback takes at most to deliver a FIN: there is no
// kernel to ask.
func awaitFIN(*testing.T, net.Addr) { time.Sleep(50 * time.Millisecond) }
