//go:build !linux

package lab

import "io"

// What needs the kernel's help is played on Linux only. Elsewhere these
// functions stand for "not known": a request that races a close may then meet
// an RST in place of the FIN.

func mayFilter() error { return errNeedsLinux }

func (c *conn) losesData() error    { return errNeedsLinux }
func (c *conn) losesAll() error     { return errNeedsLinux }
func (c *conn) pending() int        { return 0 }
func (c *conn) unacknowledged() int { return 0 }
func (c *conn) dropped() uint32     { return 0 }
func (c *conn) open() bool          { return true }

func mute() (string, []io.Closer, error) { return "", nil, errNeedsLinux }
func deaf() (string, io.Closer, error)   { return "", nil, errNeedsLinux }
