//go:build unix

package state

import "syscall"

// wary is added where a file is opened: see openRegular.
const wary = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
