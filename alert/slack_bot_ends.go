package alert

import (
	"context"
	"slices"
)

// ends brings the roots up to date of the incidents that a notice ends without
// being in their thread: else they said for ever that these are open. A root
// that cannot be edited is said, and not tried again.
func (s *SlackBot) ends(ctx context.Context, n Notice, so *Receipt) *SendError {
	for at := range so.Ends {
		c := &so.Ends[at]
		part := PartRoot + Part(" "+c.Name)
		if so.did(part) || c.Thread.Root == "" || c.Thread.Fixed {
			continue
		}
		failure := s.edit(ctx, c.Thread, current(endOf(n, *c), Receipt{Conversation: *c}))
		if failure != nil && failure.passes() {
			failure.Ambiguous = false // an edit that is made twice is seen once
			return failure
		}
		if failure != nil {
			if failure.fixed {
				c.Thread.Fixed, c.Thread.Shown = true, nil
			}
			so.Problems = append(so.Problems, failure.beside())
		}
		so.done(part)
	}
	return nil
}

// passes reports whether the same may be done in a later run.
func (e *SendError) passes() bool { return e.RetryAfter > 0 || e.Ambiguous || e.Code == "" }

// endOf is what a backlog says of one conversation's incidents, as their end
// would have been told there. The evidence is not the backlog's.
func endOf(n Notice, c Conversation) Notice {
	end := Notice{
		Kind: KindResolved, Decided: n.Decided, Title: c.title(), Links: n.Links, Trail: n.Trail,
		Summary: "The end could not be told in time: a later message, outside this thread, sums up what was missed.",
	}
	for _, a := range n.About {
		if slices.Contains(c.Ended, a.Name) {
			end.About = append(end.About, a)
		}
	}
	if c.incidents() == 1 && len(end.About) == 1 {
		end.Title = endTitle(end.About[0])
	}
	return end
}

// endTitle says that one incident is over, and by what.
func endTitle(a About) string {
	how, after := "RESOLVED ", ""
	switch a.EndedBy {
	case EndedAccepted:
		how, after = "CLOSED ", ": accepted"
	case EndedRemoved:
		how, after = "CLOSED ", ": no longer in the config"
	case EndedRecovered:
	}
	if a.Trouble != "" {
		after = " (" + a.Trouble + ")" + after
	}
	return shorten(how+clean(a.Target)+after, maxTitle, "…")
}
