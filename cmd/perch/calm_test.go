package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	pulseEvery = 5 * time.Millisecond
	// stoodFrom is what counts as standing still: from there on perch's own report warns
	// of a delay, too.
	stoodFrom = 50 * time.Millisecond
	// mostMeasured bounds how often a test of a second or two is repeated.
	mostMeasured = 10
)

// calmly measures, and once more where a wrong thing came out of a time in which the
// machine stood still. How long it did is measured beside it: what is wrong on a
// machine that did not is wrong.
func calmly(t *testing.T, measure func() (problem string)) {
	t.Helper()
	for try := 1; ; try++ {
		longest := standstill()
		problem := measure()
		stood := longest()
		switch {
		case problem == "":
			return
		case stood < stoodFrom, try == mostMeasured, t.Failed():
			t.Errorf("%s\n(measured %d times; at last the machine stood still for %s)", problem, try, stood)
			return
		}
		t.Logf("measured again: the machine stood still for %s, and %.200s", stood, problem)
	}
}

// standstill watches until it is asked for how long the machine let nobody run.
func standstill() (longest func() time.Duration) {
	asked, answer := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		for end := false; !end; {
			before := time.Now()
			select {
			case <-asked:
				end = true
			case <-time.After(pulseEvery):
			}
			most = max(most, time.Since(before)-pulseEvery)
		}
		answer <- most
	}()
	return func() time.Duration {
		close(asked)
		return <-answer
	}
}

// lacks says what of a text is missing; empty: nothing.
func lacks(name, text string, parts ...string) string {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return fmt.Sprintf("%s does not say %q:\n%s", name, p, text)
		}
	}
	return ""
}
