package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PartDetails is what a thread's root leaves out: the first reply.
const PartDetails Part = "details"

// head is what the root of a thread says of a notice: its title, where the
// incident stands, and the sections that a person reads first.
func head(n Notice, so Receipt) Notice {
	n.Title = rootTitle(n, so)
	state := section("State", FormText, maxFact, []string{standing(n, so)})
	n.Sections = slices.Concat(state, n.Sections[:headLength(n.Sections)])
	return n
}

// rootTitle says what holds of the thread: of its one incident what the notice
// does, of several how many are open, since the end of some is not the end of all.
func rootTitle(n Notice, so Receipt) string {
	all := len(so.Open) + len(so.Over)
	switch {
	case all <= len(n.About) && n.Kind == KindSharper:
		return "FIRING " + strings.TrimPrefix(n.Title, "CHANGED ")
	case all <= len(n.About):
		return n.Title
	case len(so.Open) == 0:
		return shorten(fmt.Sprintf("RESOLVED all %d: %s", all, strings.Join(so.Over, ", ")), maxTitle, "…")
	}
	return shorten(fmt.Sprintf("FIRING %d of %d: %s", len(so.Open), all, strings.Join(so.Open, ", ")), maxTitle, "…")
}

// tail is what head leaves out, as a notice.
func tail(n Notice) Notice {
	n.Title, n.Summary = "Details", n.Title
	n.Sections, n.Links, n.Trail = n.Sections[headLength(n.Sections):], nil, nil
	return n
}

// headLength counts the sections before the first table or list.
func headLength(all []Section) int {
	at := slices.IndexFunc(all, func(s Section) bool { return s.Form != FormText && s.Form != FormFacts })
	if at < 0 {
		return len(all)
	}
	return at
}

// standing says where the thread's incidents stand.
func standing(n Notice, so Receipt) string {
	const thread = "The thread has the details, and what followed."
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
		return fmt.Sprintf("Open since %s; as of %s. %s", clock(since), clock(n.Decided), thread)
	}
	if ended.IsZero() {
		ended = n.Decided
	}
	if len(so.Open) > 0 {
		return fmt.Sprintf("%d over since %s, %d still open. %s", len(so.Over), clock(ended), len(so.Open), thread)
	}
	return fmt.Sprintf("Over since %s. %s", clock(ended), thread)
}
