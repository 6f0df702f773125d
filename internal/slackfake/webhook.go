package slackfake

import (
	"encoding/json"
	"net/http"
	"slices"
)

// webhook answers a message to an incoming webhook, whose answers are words.
// The caller holds the lock.
func (f *Fake) webhook(r *http.Request, body []byte) answer {
	at := slices.IndexFunc(f.config.Hooks, func(h Hook) bool { return h.Path == r.URL.Path })
	if at < 0 {
		return page(http.StatusNotFound, "no_service")
	}
	args, problem := hookArguments(r, body)
	if problem != "" {
		return page(http.StatusBadRequest, problem)
	}
	f.known("a webhook", args, "text", "blocks", "thread_ts", "unfurl_links", "unfurl_media",
		"replace_original", "delete_original", "response_type")
	to := f.config.Hooks[at].Channel
	c := slices.IndexFunc(f.config.Channels, func(c Channel) bool { return c.ID == to })
	switch {
	case c < 0:
		return page(http.StatusNotFound, errChannel)
	case f.config.Channels[c].Archived:
		return page(http.StatusGone, "channel_is_archived")
	}
	blocks, no, ok := f.content(args, mostMessage)
	if !ok {
		// The Web API's answer holds the word that a webhook says.
		var said struct{ Error string }
		if err := json.Unmarshal(no.body, &said); err != nil {
			panic(err) // the fake's own document
		}
		a := page(http.StatusBadRequest, said.Error)
		a.result = no.result
		return a
	}
	thread, problem := f.thread(to, args)
	if problem != "" {
		return page(http.StatusBadRequest, problem)
	}
	f.keep(Message{Channel: to, Thread: thread, Text: args.get("text"), Blocks: blocks, By: hookBot})
	return page(http.StatusOK, "ok")
}

// hookBot posts what comes by webhooks: the app's bot cannot edit it.
const hookBot = "B00000002"

// hookArguments reads a webhook's message: a JSON document, or a form whose
// payload is one.
func hookArguments(r *http.Request, body []byte) (arguments, string) {
	args, problem := parse(r, body)
	if problem == "" && !args.json {
		if !args.has("payload") {
			return arguments{}, "no_text"
		}
		args, problem = parseJSON([]byte(args.get("payload")))
	}
	if problem != "" {
		return arguments{}, "invalid_payload"
	}
	return args, ""
}
