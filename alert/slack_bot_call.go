package alert

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// said is what perch reads of an answer of Slack's Web API.
type said struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error"`
	Needed   string `json:"needed"`   // scopes
	Provided string `json:"provided"` // likewise
	Channel  string `json:"channel"`  // its id
	TS       string `json:"ts"`       // the message's id
	Message  struct {
		Thread string `json:"thread_ts"`
	} `json:"message"`
	Metadata struct {
		Messages []string `json:"messages"` // what is wrong with the arguments
	} `json:"response_metadata"`
}

const notSlack = "something that is not Slack answered: a proxy?"

// call is one call of an API.
type call struct {
	name    string // "chat.postMessage"
	channel string // where it was to go, for the advice
	once    bool   // without patience
	do      func(context.Context, *slack.Client) error
}

// call does it, several times while Slack asks for patience.
func (s *SlackBot) call(ctx context.Context, c call) (said, *SendError) {
	var answer said
	try := func(ctx context.Context) *SendError {
		ctx, cancel := context.WithTimeout(ctx, postTimeout)
		defer cancel()
		client, watch := watched(s.client())
		err := c.do(ctx, slack.New(s.token(), slack.OptionHTTPClient(client)))
		var failure *SendError
		answer, failure = heard(watch, err, scrubber{}.and(s.token()))
		if failure != nil {
			failure.To, failure.Call = "Slack", c.name
			failure.advise(c.channel, answer)
		}
		return failure
	}
	if c.once {
		failure := try(ctx)
		return answer, failure
	}
	failure := patiently(ctx, try)
	return answer, failure
}

// heard judges an answer of the Web API. slack-go makes the request; what came
// back is taken from the transport below it: slack-go says of a Retry-After
// that is no whole number only that it could not be read.
func heard(watch *watcher, err error, scrub scrubber) (said, *SendError) {
	if failure := watch.noAnswer(err, scrub); failure != nil {
		return said{}, failure
	}
	if failure := watch.limited(scrub); failure != nil {
		return said{}, failure
	}
	if watch.status == 0 {
		return said{}, &SendError{Ambiguous: true}
	}
	var answer said
	if json.Unmarshal([]byte(watch.body), &answer) != nil || !answer.OK && answer.Error == "" || answer.OK && watch.status != http.StatusOK {
		failure := &SendError{Status: watch.status, Body: watch.shown(scrub), Ambiguous: watch.status < 300 || watch.status >= 500}
		if watch.status < 400 {
			failure.advice = notSlack
		}
		return said{}, failure
	}
	if answer.OK {
		return answer, nil
	}
	failure := &SendError{Status: watch.status, Code: shorten(clean(scrub.text(answer.Error)), maxBody, "…")}
	if watch.status >= http.StatusInternalServerError {
		failure.Ambiguous = true
	}
	answer.Needed, answer.Provided = scrub.text(answer.Needed), scrub.text(answer.Provided)
	for i, text := range answer.Metadata.Messages {
		answer.Metadata.Messages[i] = scrub.text(text)
	}
	return answer, failure
}

// post posts a notice; as plain text, if Slack refuses its blocks.
func (s *SlackBot) post(ctx context.Context, channel string, n Notice, options ...slack.MsgOption) (said, *SendError) {
	options = append(options, slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
	return show(n, func(content slack.MsgOption) (said, *SendError) {
		if failure := s.pace(ctx, channel); failure != nil {
			return said{}, failure
		}
		answer, failure := s.call(ctx, call{name: "chat.postMessage", channel: channel, do: func(ctx context.Context, api *slack.Client) error {
			_, _, err := api.PostMessageContext(ctx, channel, append(options, content)...)
			return err
		}})
		if failure == nil && (answer.Channel == "" || answer.TS == "") {
			failure = &SendError{To: "Slack", Call: "chat.postMessage", Ambiguous: true, Body: "ok, without a word of where", Status: http.StatusOK, advice: notSlack}
		}
		if failure == nil {
			s.posted[answer.Channel] = time.Now()
		}
		return answer, failure
	})
}

// edit replaces what a message says.
func (s *SlackBot) edit(ctx context.Context, at Thread, n Notice) *SendError {
	_, failure := show(n, func(content slack.MsgOption) (said, *SendError) {
		return s.call(ctx, call{name: "chat.update", channel: at.Channel, do: func(ctx context.Context, api *slack.Client) error {
			// First no blocks: without a word of them, Slack keeps those that were there.
			// And an edit is parsed for names by default, other than a new message.
			_, _, _, err := api.UpdateMessageContext(ctx, at.Channel, at.Root, slack.MsgOptionBlocks(), content, slack.MsgOptionParse(false))
			return err
		}})
	})
	return failure
}

// show sends a notice as blocks, and if these are refused as text: Slack's
// rules may change, and an alert must get through all the same.
func show(n Notice, send func(slack.MsgOption) (said, *SendError)) (said, *SendError) {
	answer, failure := send(slack.MsgOptionCompose(slack.MsgOptionText(escape(fallback(n)), false), slack.MsgOptionBlocks(Blocks(n)...)))
	if failure == nil || !failure.Content {
		return answer, failure
	}
	return send(slack.MsgOptionText(plain(n), false))
}

// pace keeps messages to one channel apart. A run that has no time left for it
// leaves the notice to the next one.
func (s *SlackBot) pace(ctx context.Context, channel string) *SendError {
	channel = strings.TrimPrefix(channel, "#")
	if last, ok := s.posted[channel]; ok {
		wait := apart - time.Since(last)
		if wait > 0 && (!patient(ctx, wait) || !rest(ctx, wait)) {
			return &SendError{To: "Slack", RetryAfter: wait, cause: errNoTime{}}
		}
	}
	s.posted[channel] = time.Now()
	return nil
}

// errNoTime says that the run ends before Slack takes another message.
type errNoTime struct{}

func (errNoTime) Error() string {
	return "it takes about one message a second to a channel, and the run's time is over"
}
