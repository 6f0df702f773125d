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
// An incident's first notice becomes the thread's root, whole: it must be
// understood from that message alone. A later notice is a reply, and then the
// root says what holds now, above the evidence. A backlog has no thread, and
// brings those up to date whose incidents it ends. Pictures are Illustrate's.
//
// When Slack says that it is sent too much, Send waits as told, within ctx's
// deadline. Other failures are *SendError at once; the receipt says what was
// delivered before.
func (s *SlackBot) Send(ctx context.Context, n Notice, so Receipt) (Receipt, error) {
	so.Done, so.Ends, so.Problems = slices.Clone(so.Done), slices.Clone(so.Ends), nil
	if !so.did(PartMessage) {
		if failure := s.message(ctx, n, &so); failure != nil {
			return so, failure
		}
	}
	if !so.did(PartRoot) {
		if failure := s.update(ctx, n, &so); failure != nil {
			return so, failure
		}
	}
	if failure := s.ends(ctx, n, &so); failure != nil {
		return so, failure
	}
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
		at := Thread{Channel: channel, Why: misplaced(n, channel, so.Thread.Why, refused), Size: sizeAfter(n, *so), Shown: shownAfter(n, *so)}
		failure := s.root(ctx, asRoot(n, at.Why, *so), at, so)
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

// reply posts the notice in its thread.
func (s *SlackBot) reply(ctx context.Context, n Notice, so *Receipt) *SendError {
	options := []slack.MsgOption{slack.MsgOptionTS(so.Thread.Root)}
	if inChannel(n.Kind) {
		options = append(options, slack.MsgOptionBroadcast())
	}
	said, failure := s.post(ctx, so.Thread.Channel, n, options...)
	if failure != nil {
		return failure
	}
	so.done(PartMessage)
	if said.Message.Thread != so.Thread.Root {
		// Slack posts a reply to what was deleted as a message of its own.
		so.Thread = Thread{Channel: said.Channel, Root: said.TS, Why: so.Thread.Why, Size: so.Thread.Size, Shown: shownAfter(n, *so)}
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

// root posts a thread's first message where at says, and notes where it stands.
func (s *SlackBot) root(ctx context.Context, n Notice, at Thread, so *Receipt) *SendError {
	said, failure := s.post(ctx, at.Channel, n)
	if failure != nil {
		return failure
	}
	at.Channel, at.Root = said.Channel, said.TS
	so.Thread = at
	so.done(PartMessage, PartRoot)
	return nil
}

// update brings the root up to date. Where Slack does not let it, the reply is
// the truth.
func (s *SlackBot) update(ctx context.Context, n Notice, so *Receipt) *SendError {
	if so.Thread.Fixed {
		so.done(PartRoot)
		return nil
	}
	so.Thread.Shown = shownAfter(n, *so)
	root := current(n, *so)
	edited := root // an edit is no repeat, and is never late
	edited.PossibleRepeat, edited.Waited = false, 0
	failure := s.edit(ctx, so.Thread, edited)
	switch {
	case failure == nil:
	case failure.passes():
		failure.Ambiguous = false // an edit that is made twice is seen once
		return failure
	case failure.gone && (n.Kind != KindResolved || len(so.Open) > 0):
		// Somebody deleted the root, and what is still open must be seen.
		if again := s.root(ctx, root, so.Thread, so); again != nil {
			return again
		}
		so.Problems = append(so.Problems, failure.beside())
	default:
		if failure.fixed {
			so.Thread.Fixed, so.Thread.Shown = true, nil
		}
		so.Problems = append(so.Problems, failure.beside())
	}
	so.done(PartRoot)
	return nil
}
