package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// wantMatch refuses all but one MATCH, and shows what is meant.
func wantMatch(_ *cobra.Command, args []string) error {
	const example = "for example: perch silence add stock-api --for 2h --reason \"partner maintenance\""
	switch {
	case len(args) == 0:
		return errors.New("silence add: want a MATCH: a target, a probe (target/probe) or a pattern; " + example)
	case len(args) > 1:
		return fmt.Errorf("silence add: want one MATCH, got %d arguments (%q): put quotes around a pattern and around a reason of several words; %s", len(args), args, example)
	}
	return nil
}

// wantIDs refuses no ID at all.
func wantIDs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("silence expire: want the ID of a silence, or its first characters; perch silence list shows them; for example: perch silence expire 3f2a")
	}
	return nil
}

// oneLine refuses what would not stay one line in a list, a log or a message,
// and what is too long for any of them: all of it is kept in the state.
func oneLine(flag, text string) error {
	const most = 500
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Errorf("%s has %d characters: want %d at most", flag, n, most)
	}
	if at := strings.IndexFunc(text, unfit); at >= 0 {
		return fmt.Errorf("%s %q: want one line of text, without tabs, control characters and bytes that are no UTF-8", flag, text)
	}
	return nil
}

// unfit reports whether a character breaks a line, or what comes behind it.
func unfit(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// inLine makes text fit for a line of a table: a config, or a state that others
// wrote, may say anything.
func inLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unfit(r) {
			return ' '
		}
		return r
	}, text)
}

// who adds a silence: as the flag says, else the user; empty where nobody knows,
// as in a Pod with a user id of its own.
func who(sys system, by string) string {
	if by != "" {
		return by
	}
	name, _ := sys.env("USER")
	if name == "" && sys.user != nil {
		name = sys.user()
	}
	return strings.TrimSpace(inLine(name))
}
