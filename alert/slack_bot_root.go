package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxState is what a root says of where the incident stands: more than the
// summary of its end.
const maxState = 2 * maxSummary

// asRoot is what a new root says of a notice: an opening is shown as it is.
// Where another one comes to be the first message of its thread, it says what
// holds now, too.
func asRoot(n Notice, why string, so Receipt) Notice {
	if n.Thread != "" && n.Kind != KindFiring && n.Kind != KindFlapping {
		so.Thread = Thread{Why: why}
		return current(n, so)
	}
	n.Sections = slices.Concat(whyHere(why), n.Sections)
	return n
}

// current is what a root says once a later notice was told: what holds now,
// and the evidence that it shows; where that is not known, the notice's own.
func current(n Notice, so Receipt) Notice {
	n.Title = rootTitle(n, so)
	state := standing(n, so)
	if shown := so.Thread.Shown; shown != nil {
		n.Sections, n.Links, n.Trail = shown.Sections, shown.Links, shown.Trail
		if n.Decided.After(shown.Decided) {
			state = append(state, fmt.Sprintf("Below is what was told at %s. The thread has what followed.", clock(shown.Decided)))
		}
	}
	n.Sections = slices.Concat(whyHere(so.Thread.Why), section("State", FormText, maxState, state), n.Sections)
	return n
}

// rootTitle says what holds of the thread: of its one incident what the notice
// does, of several how many are open, since the end of some is not the end of all.
func rootTitle(n Notice, so Receipt) string {
	all := so.incidents()
	switch {
	case all <= len(n.About) && n.Kind == KindSharper:
		return "FIRING " + strings.TrimPrefix(n.Title, "CHANGED ")
	case all <= len(n.About):
		return n.Title
	}
	return so.title()
}

// title says how many of several incidents are open.
func (c *Conversation) title() string {
	text := fmt.Sprintf("RESOLVED all %d: %s", c.incidents(), strings.Join(c.Over, ", "))
	if len(c.Open) > 0 {
		text = fmt.Sprintf("FIRING %d of %d: %s", len(c.Open), c.incidents(), strings.Join(c.Open, ", "))
	}
	return shorten(text, maxTitle, "…")
}

// standing says where the thread's incidents stand, and of an end why.
func standing(n Notice, so Receipt) []string {
	since, ended := n.Decided, time.Time{}
	for _, a := range n.About {
		if !a.Since.IsZero() && a.Since.Before(since) {
			since = a.Since
		}
		if a.Ended.After(ended) {
			ended = a.Ended
		}
	}
	if n.Kind != KindResolved {
		return []string{fmt.Sprintf("Open since %s; as of %s.", clock(since), clock(n.Decided))}
	}
	if ended.IsZero() {
		ended = n.Decided
	}
	state, end := "Over since "+clock(ended)+".", n.Summary
	if len(so.Open) > 0 {
		state = fmt.Sprintf("%d over, the last since %s; %d still open.", so.incidents()-len(so.Open), clock(ended), len(so.Open))
	}
	if so.incidents() > 1 && n.Target != "" {
		end = n.Target + ": " + end
	}
	return []string{state, end}
}

// whyHere says why a root is not where it should be.
func whyHere(why string) []Section {
	return section("Why this is here", FormText, maxFact, []string{why})
}

// misplaced says why a root is in a channel: empty where it belongs there. have
// is what was known of the thread before.
func misplaced(n Notice, channel, have string, refused *SendError) string {
	switch {
	case refused == nil:
		return have
	case channel == n.Channel:
		return ""
	}
	why := "Slack refused the channel"
	if n.Channel != "" {
		why += " " + n.Channel
	}
	why += " (" + refused.Code + ")"
	if refused.advice != "" {
		why += ": " + refused.advice
	}
	return why + "."
}
