package alert

import (
	"strings"
	"time"
)

// Silence mutes the notices of what it matches for a time: probing and
// resolving go on. It is JSON, for the state.
type Silence struct {
	ID string `json:"id,omitempty"` // empty: the config's
	// Match is "target/probe", "target" (all its probes), or a pattern: * is any
	// text, a slash too, and ? any one character.
	Match  string    `json:"match"`
	From   time.Time `json:"from,omitzero"` // zero: since ever
	Until  time.Time `json:"until"`         // from then on it mutes no more
	Reason string    `json:"reason,omitempty"`
}

// Active reports whether it mutes at that moment. One without an end mutes
// nothing: forgetting it would hide an incident for ever.
func (s Silence) Active(now time.Time) bool { return !now.Before(s.From) && now.Before(s.Until) }

// Matches reports whether it is about a probe, named "target/probe".
func (s Silence) Matches(id string) bool {
	if matches(s.Match, id) {
		return true
	}
	target, _, found := strings.Cut(id, "/")
	return found && !strings.Contains(s.Match, "/") && matches(s.Match, target)
}

// matches compares a text with a pattern of * and ?. On a mismatch only the
// last * is tried again, one character further: no pattern takes long.
func matches(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	at, in, star, from := 0, 0, -1, 0
	for in < len(t) {
		switch {
		case at < len(p) && p[at] == '*':
			star, from = at, in
			at++
		case at < len(p) && (p[at] == '?' || p[at] == t[in]):
			at, in = at+1, in+1
		case star >= 0:
			from++
			at, in = star+1, from
		default:
			return false
		}
	}
	for at < len(p) && p[at] == '*' {
		at++
	}
	return at == len(p)
}

// silenced returns the silence that mutes a probe now: of several the one that
// ends last. nil: none does.
func (o Options) silenced(id string) *Silence {
	var last *Silence
	for i, s := range o.Silences {
		if s.Active(o.Now) && s.Matches(id) && (last == nil || s.Until.After(last.Until)) {
			last = &o.Silences[i]
		}
	}
	return last
}

// muted returns the silence behind which all of the probes are, which is the
// first of them to end. nil: at least one probe is heard.
func (o Options) muted(ids []string) *Silence {
	var first *Silence
	for _, id := range ids {
		s := o.silenced(id)
		if s == nil {
			return nil
		}
		if first == nil || s.Until.Before(first.Until) {
			first = s
		}
	}
	return first
}

// because puts a reason, where one was given, into brackets.
func because(reason string) string {
	if reason = shorten(clean(reason), 200, "…"); reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// words say since when and why nothing was told.
func (h Hush) words() string {
	if h == (Hush{}) {
		return ""
	}
	return "from " + clock(h.From) + " until " + clock(h.Until) + because(h.Reason)
}
