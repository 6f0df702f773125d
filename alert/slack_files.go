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
	part  Part
	file  string
	title string
	draw  func(Charts) ([]byte, error)
	alt   func(Charts) string
}

func picturesOf(k Kind) []picture {
	switch k {
	case KindFiring, KindFlapping, KindSharper:
		return []picture{
			{PartLadder, "ladder.png", "Held idle, then used again", drawLadder, altLadder},
			{PartLatency, "latency.png", "How long attempts took", drawLatency, altLatency},
		}
	default:
		return nil
	}
}

// pictures uploads a notice's pictures into its thread. They are best effort:
// after the first that fails, the receipt says so, and that is all.
func (s *SlackBot) pictures(ctx context.Context, n Notice, so *Receipt) {
	for _, p := range picturesOf(n.Kind) {
		if so.did(p.part) {
			continue
		}
		content, err := p.draw(n.Charts)
		if err != nil {
			failure := &SendError{To: "Slack", Call: p.file, cause: err}
			so.Problems = append(so.Problems, failure.beside())
			continue
		}
		if len(content) == 0 {
			continue
		}
		if failure := s.upload(ctx, so.Thread, p, upload{content: content, alt: p.alt(n.Charts)}); failure != nil {
			so.Problems = append(so.Problems, failure.beside())
			return
		}
		so.done(p.part)
	}
}

// upload is what goes up.
type upload struct {
	content []byte
	alt     string // for those who do not see it
}

// upload puts one picture into a thread, in the three steps that Slack has.
func (s *SlackBot) upload(ctx context.Context, at Thread, p picture, u upload) *SendError {
	var place *slack.GetUploadURLExternalResponse
	_, failure := s.call(ctx, call{name: "files.getUploadURLExternal", do: func(ctx context.Context, api *slack.Client) (err error) {
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
	_, failure = s.call(ctx, call{name: "files.completeUploadExternal", channel: at.Channel, do: func(ctx context.Context, api *slack.Client) error {
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
	failure := patiently(ctx, func(ctx context.Context) *SendError {
		ctx, cancel := context.WithTimeout(ctx, postTimeout)
		defer cancel()
		client, watch := watched(s.client())
		err := slack.New(s.token(), slack.OptionHTTPClient(client)).UploadToURL(ctx, slack.UploadToURLParameters{
			UploadURL: address, Reader: bytes.NewReader(content), Filename: file,
		})
		if failure := watch.noAnswer(err, scrub); failure != nil {
			return failure
		}
		if failure := watch.limited(scrub); failure != nil {
			return failure
		}
		return watch.plainStatus(scrub)
	})
	if failure != nil {
		failure.To, failure.Call = "Slack", "uploading "+file
	}
	return failure
}
