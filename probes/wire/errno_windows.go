package wire

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
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
	case windows.WSAECONNRESET, windows.WSAECONNABORTED:
		return ErrnoReset
	case windows.WSAESHUTDOWN:
		return ErrnoPipe
	case windows.WSAETIMEDOUT, windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH:
		return ErrnoTimeout
	case windows.WSAECONNREFUSED:
		return ErrnoRefused
	case windows.WSAEMFILE:
		return ErrnoDescriptors
	case windows.WSAEADDRNOTAVAIL:
		return ErrnoNoAddress
	default:
		return ErrnoOther
	}
}
