package diagnose

import (
	"fmt"
	"strings"
)

// step is one thing to do.
type step struct {
	text string
	kind stepKind
}

type stepKind int

const (
	stepNext  stepKind = iota // after the one before
	stepOr                    // instead of the one before
	stepAside                 // nothing to do: what to beware of
)

func next(text string) step        { return step{text, stepNext} }
func alternative(text string) step { return step{text, stepOr} }
func aside(text string) step       { return step{text, stepAside} }

// numbered writes the steps so that each alternative names the step that it
// stands for: "1. ", "1b. Or ", "2. ". What is no step comes last. One step
// alone has no number.
func numbered(steps []step) []string {
	var list, beware []string
	n, letter := 0, 'a'
	alone := countSteps(steps) == 1
	for _, s := range steps {
		switch {
		case s.kind == stepAside:
			beware = append(beware, capital(s.text))
			continue
		case alone:
			list = append(list, capital(s.text))
			continue
		case s.kind == stepOr:
			letter++
			list = append(list, fmt.Sprintf("%d%c. Or %s", n, letter, s.text))
			continue
		}
		n, letter = n+1, 'a'
		list = append(list, fmt.Sprintf("%d. %s", n, capital(s.text)))
	}
	return append(list, beware...)
}

func countSteps(steps []step) int {
	n := 0
	for _, s := range steps {
		if s.kind != stepAside {
			n++
		}
	}
	return n
}

// capital begins a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
