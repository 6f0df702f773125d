package alert

import (
	"bytes"
	"context"
	"net/http"
	"net/url"

	"github.com/slack-go/slack"
)

// picture is one that a notice can have.
type picture struct {
	file  string
	title string
	draw  func(Charts) ([]byte, error)
	alt   func(Charts) string
}

func picturesOf(k Kind) []picture {
	switch k {
	case KindFiring, KindFlapping, KindSharper:
		return []picture{
			{"ladder.png", "Held idle, then used again", drawLadder, altLadder},
			{"latency.png", "How long attempts took", drawLatency, altLatency},
		}
	default:
		return nil
	}
}

// hasPictures reports whether there is something to draw.
func (n Notice) hasPictures() bool {
	return len(picturesOf(n.Kind)) > 0 && len(n.Charts.Ladder)+len(n.Charts.Latency) > 0
}

// Illustrate uploads a notice's pictures into its thread, up to the first that
// fails. It has no patience: where Slack asks for it, there are none.
func (s *SlackBot) Illustrate(ctx context.Context, n Notice, at Thread) error {
	for _, p := range picturesOf(n.Kind) {
		content, err := p.draw(n.Charts)
		if err != nil {
			return (&SendError{To: "Slack", Call: p.file, cause: err}).beside()
		}
		if len(content) == 0 {
			continue
		}
		if failure := s.upload(ctx, at, p, upload{content: content, alt: p.alt(n.Charts)}); failure != nil {
			return failure.beside()
		}
	}
	return nil
}

// upload is what goes up.
type upload struct {
	content []byte
	alt     string // for those who do not see it
}

// upload puts one picture into a thread, in the three steps that Slack has.
func (s *SlackBot) upload(ctx context.Context, at Thread, p picture, u upload) *SendError {
	var place *slack.GetUploadURLExternalResponse
	_, failure := s.call(ctx, call{name: "files.getUploadURLExternal", once: true, do: func(ctx context.Context, api *slack.Client) (err error) {
		place, err = api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{
			FileName: p.file, FileSize: len(u.content), AltTxt: u.alt,
		})
		return err
	}})
	if failure != nil {
		return failure
	}
	if place == nil || place.UploadURL == "" {
		return &SendError{To: "Slack", Call: "files.getUploadURLExternal", Body: "no upload address", Status: http.StatusOK}
	}
	if failure := s.bytes(ctx, place.UploadURL, p.file, u.content); failure != nil {
		return failure
	}
	_, failure = s.call(ctx, call{name: "files.completeUploadExternal", once: true, channel: at.Channel, do: func(ctx context.Context, api *slack.Client) error {
		_, err := api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: []slack.FileSummary{{ID: place.FileID, Title: p.title}}, Channel: at.Channel, ThreadTimestamp: at.Root,
		})
		return err
	}})
	return failure
}

// bytes sends a file's content where Slack said. slack-go makes sure that the
// address is Slack's: the token goes with it. Whoever has the address can use
// it, so it is no less secret.
func (s *SlackBot) bytes(ctx context.Context, address, file string, content []byte) *SendError {
	scrub := scrubber{}.and(s.token())
	if parsed, err := url.Parse(address); err == nil {
		scrub = newScrubber(parsed, address).and(s.token())
	}
	client, watch := watched(s.client())
	err := slack.New(s.token(), slack.OptionHTTPClient(client)).UploadToURL(ctx, slack.UploadToURLParameters{
		UploadURL: address, Reader: bytes.NewReader(content), Filename: file,
	})
	failure := watch.noAnswer(err, scrub)
	if failure == nil {
		failure = watch.limited(scrub)
	}
	if failure == nil {
		failure = watch.plainStatus(scrub)
	}
	if failure != nil {
		failure.To, failure.Call = "Slack", "uploading "+file
	}
	return failure
}
