//go:build !linux

package wire

import "net"

// kernelOf returns nil: what other kernels tell is not used, and the evidence
// says that it is unknown.
func kernelOf(net.Conn, *int64) (kernel, *Snapshot) { return nil, nil }
