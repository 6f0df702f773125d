package alert

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"perch.example/probes"
)

// SlackBot sends notices with a bot's token: an incident is one message, kept
// up to date, and a thread. It serves one run, and one notice at a time.
type SlackBot struct {
	// Functions, for the same reason as in Slack.
	token   func() string
	client  func() *http.Client
	channel string               // where notices without a channel go: "#name" or an id
	posted  map[string]time.Time // when a channel was last posted to
}

// apart is how far apart messages to one channel are: Slack takes about one a
// second.
const apart = time.Second

// NewSlackBot sends to channels that the app was invited to, with its token
// (scopes chat:write and, for pictures, files:write). channel is where
// notices go that have none of their own. A nil client is one that uses the
// environment's proxy. Whatever the client, redirects are not followed, and a
// request ends after 10 s at most.
func NewSlackBot(token probes.Secret, channel string, client *http.Client) *SlackBot {
	if client == nil {
		client = defaultClient()
	}
	value := strings.TrimSpace(token.Reveal())
	return &SlackBot{
		token: func() string { return value }, client: func() *http.Client { return client },
		channel: channel, posted: map[string]time.Time{},
	}
}

// String says what it is, never how it gets in.
func (SlackBot) String() string { return "Slack bot" }

// Wants reports that every notice is shown.
func (s *SlackBot) Wants(k Kind) bool { return k != KindOngoing }

// Send tells one notice.
//
// An incident's first notice becomes the thread's root: what the application
// experiences, and since when. What follows from it is the first reply, so that
// it stays when the root is brought up to date. A later notice is a reply, and
// then the root says what holds now. Pictures come last, and are best effort:
// one that fails is said in the receipt and not tried again.
//
// When Slack says that it is sent too much, Send waits as told, within ctx's
// deadline. Other failures are *SendError at once; the receipt says what was
// delivered before.
func (s *SlackBot) Send(ctx context.Context, n Notice, so Receipt) (Receipt, error) {
	so.Done, so.Problems = slices.Clone(so.Done), nil
	first := !so.did(PartMessage)
	if first {
		if failure := s.message(ctx, n, &so); failure != nil {
			return so, failure
		}
	}
	if !so.did(PartDetails) {
		if failure := s.details(ctx, n, first, &so); failure != nil {
			return so, failure
		}
	}
	if !so.did(PartRoot) {
		if failure := s.update(ctx, n, &so); failure != nil {
			return so, failure
		}
	}
	s.pictures(ctx, n, &so)
	return so, nil
}

// message posts the notice: as a reply where there is a thread, else as a root.
func (s *SlackBot) message(ctx context.Context, n Notice, so *Receipt) *SendError {
	var refused *SendError
	if so.Thread.Root != "" {
		failure := s.reply(ctx, n, so)
		switch {
		case failure == nil:
			return nil
		case failure.gone:
			// The root is gone: another one, in the same channel.
		case failure.Place:
			refused = failure
		default:
			return failure
		}
	}
	for _, channel := range s.places(n, so.Thread, refused != nil) {
		failure := s.root(ctx, explained(n, refused), channel, so)
		if failure == nil {
			if refused != nil {
				so.Problems = append(so.Problems, refused.beside())
			}
			return nil
		}
		if !failure.Place {
			return failure
		}
		if refused == nil {
			refused = failure
		}
	}
	return refused
}

// places are the channels where a root may go, the best one first.
func (s *SlackBot) places(n Notice, at Thread, left bool) []string {
	var all []string
	if !left {
		all = append(all, at.Channel)
	}
	all = append(all, n.Channel, s.channel)
	var places []string
	for _, channel := range all {
		if channel != "" && !slices.Contains(places, channel) {
			places = append(places, channel)
		}
	}
	return places
}

// explained says in a notice why it is not where it should be.
func explained(n Notice, refused *SendError) Notice {
	if refused == nil {
		return n
	}
	why := "Slack refused the channel"
	if n.Channel != "" {
		why += " " + n.Channel
	}
	why += " (" + refused.Code + ")"
	if refused.advice != "" {
		why += ": " + refused.advice
	}
	n.Sections = slices.Concat(section("Why this is here", FormText, maxFact, []string{why + "."}), n.Sections)
	return n
}

// reply posts the whole notice in its thread.
func (s *SlackBot) reply(ctx context.Context, n Notice, so *Receipt) *SendError {
	options := []slack.MsgOption{slack.MsgOptionTS(so.Thread.Root)}
	if inChannel(n.Kind) {
		options = append(options, slack.MsgOptionBroadcast())
	}
	said, failure := s.post(ctx, so.Thread.Channel, n, options...)
	if failure != nil {
		return failure
	}
	so.done(PartMessage, PartDetails)
	if said.Message.Thread != so.Thread.Root {
		// Slack posts a reply to what was deleted as a message of its own.
		so.Thread = Thread{Channel: said.Channel, Root: said.TS}
		so.done(PartRoot)
	}
	return nil
}

// inChannel reports whether a reply is also shown in the channel. Few follow a
// thread: what nobody sees there reminds nobody, and the channel that saw the
// opening must see the end. An edit of the root notifies no one.
func inChannel(k Kind) bool {
	switch k {
	case KindResolved, KindReminder, KindFlapping, KindFiring:
		return true
	default:
		return false // what only tells more is for those who read the thread
	}
}

// root posts the notice's first message.
func (s *SlackBot) root(ctx context.Context, n Notice, channel string, so *Receipt) *SendError {
	shown := n
	if n.Thread != "" {
		shown = head(n, *so)
	}
	said, failure := s.post(ctx, channel, shown)
	if failure != nil {
		return failure
	}
	so.Thread = Thread{Channel: said.Channel, Root: said.TS}
	so.done(PartMessage, PartRoot)
	if n.Thread == "" || headLength(n.Sections) == len(n.Sections) {
		so.done(PartDetails)
	}
	return nil
}

// details posts what the root left out. first says that the root was posted a
// moment ago: then it has said whether this is a repeat.
func (s *SlackBot) details(ctx context.Context, n Notice, first bool, so *Receipt) *SendError {
	if first {
		n.PossibleRepeat, n.Waited = false, 0
	}
	if _, failure := s.post(ctx, so.Thread.Channel, tail(n), slack.MsgOptionTS(so.Thread.Root)); failure != nil {
		if !failure.Place && !failure.Content && !failure.gone {
			return failure
		}
		so.Problems = append(so.Problems, failure.beside()) // the root stands; what it left out is in the report
	}
	so.done(PartDetails)
	return nil
}

// update brings the root up to date. Where Slack does not let it, the reply is
// the truth.
func (s *SlackBot) update(ctx context.Context, n Notice, so *Receipt) *SendError {
	now := n // an edit is no repeat, and is never late
	now.PossibleRepeat, now.Waited = false, 0
	failure := s.edit(ctx, so.Thread, head(now, *so))
	switch {
	case failure == nil:
	case failure.RetryAfter > 0 || failure.Ambiguous || failure.Code == "":
		failure.Ambiguous = false // an edit that is made twice is seen once
		return failure
	case failure.gone && n.Kind != KindResolved:
		// Somebody deleted the root, and what is still open must be seen.
		if again := s.root(ctx, n, so.Thread.Channel, so); again != nil {
			return again
		}
		so.Problems = append(so.Problems, failure.beside())
		if headLength(n.Sections) < len(n.Sections) { // its new thread is empty
			so.Done = slices.DeleteFunc(so.Done, func(p Part) bool { return p == PartDetails })
			return s.details(ctx, n, true, so)
		}
	default:
		so.Problems = append(so.Problems, failure.beside())
	}
	so.done(PartRoot)
	return nil
}
