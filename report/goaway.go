package report

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// goawaySaid is what the GOAWAY that ended a held connection says beside that.
func goawaySaid(a *probes.Attempt) string {
	if a == nil || a.Goaway.Said() == "" {
		return ""
	}
	return " " + a.Goaway.Said()
}

// agesWords says at which age of theirs the server ends connections; empty: it does
// not, or nothing tells.
func agesWords(v probeView) string {
	var least, most time.Duration
	for _, o := range v.outcomes {
		if at := o.EndsAtAge; at > 0 {
			if least == 0 || at < least {
				least = at
			}
			most = max(most, at)
		}
	}
	switch {
	case least == 0:
		return ""
	case age(least) == age(most):
		return "; the server ends connections at the age of " + age(least) + ", idle or not"
	}
	return fmt.Sprintf("; the server ends connections at the age of %s to %s, idle or not", age(least), age(most))
}
