package report

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// accepted says of which outcomes of the finding people have said that they
// live with them, until when and why. Where that is not so of all that failed,
// it says of which.
func (f finding) accepted() []string {
	met := map[string][]*probes.Outcome{}
	var texts []string
	failed := 0
	for _, o := range f.outcomes {
		if o.Verdict == probes.VerdictFail {
			failed++
		}
		text := acceptedWords(o)
		if text == "" {
			continue
		}
		if met[text] == nil {
			texts = append(texts, text)
		}
		met[text] = append(met[text], o)
	}
	for i, text := range texts {
		if of := met[text]; len(of) < failed {
			texts[i] = finding{of}.where() + ": " + text
		}
	}
	return texts
}

func acceptedWords(o *probes.Outcome) string {
	switch {
	case o.Accepted != nil:
		return fmt.Sprintf("accepted until %s: %s; it opens no incident, and --fail-on does not count it", o.Accepted.LastDay(), o.Accepted.Reason)
	case o.Lapsed != nil:
		return fmt.Sprintf("was accepted until %s: %s; that is over, and it counts again", o.Lapsed.LastDay(), o.Lapsed.Reason)
	}
	return ""
}

// allAccepted reports whether every fail of a probe is accepted.
func allAccepted(v probeView) bool {
	for _, o := range v.outcomes {
		if o.Verdict == probes.VerdictFail && o.Accepted == nil {
			return false
		}
	}
	return v.worst == probes.VerdictFail
}

func newAccepted(a *probes.Accepted) *acceptedJSON {
	if a == nil {
		return nil
	}
	return &acceptedJSON{Until: a.Until.UTC().Format(time.RFC3339Nano), Reason: a.Reason}
}
