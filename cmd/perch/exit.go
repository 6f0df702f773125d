package main

import (
	"errors"
	"fmt"
)

// The exit statuses of contract.md. When several hold: 2, then 4, 3, 1.
const (
	exitOK         = 0
	exitFindings   = 1
	exitUsage      = 2
	exitIncomplete = 3
	exitOwn        = 4
)

// exitError is an error with the exit status that it leads to. A nil err means
// that everything was already said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks what is wrong with the command line or the config.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// own marks what perch itself could not do.
func own(err error) error { return &exitError{code: exitOwn, err: err} }

// codeOf returns the status of an error; whatever nobody marked came from the
// command line.
func codeOf(err error) int {
	if err == nil {
		return exitOK
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitUsage
}
