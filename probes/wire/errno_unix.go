//go:build !windows

package wire

import (
	"errors"
	"syscall"
)

// errnoOf returns the class of a system error, or "" for nil.
func errnoOf(err error) Errno {
	var no syscall.Errno
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &no):
		return ErrnoOther
	}
	switch no {
	case syscall.ECONNRESET:
		return ErrnoReset
	case syscall.EPIPE:
		return ErrnoPipe
	case syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH:
		return ErrnoTimeout
	case syscall.ECONNREFUSED:
		return ErrnoRefused
	case syscall.EMFILE, syscall.ENFILE:
		return ErrnoDescriptors
	case syscall.EADDRNOTAVAIL:
		return ErrnoNoAddress
	default:
		return ErrnoOther
	}
}
