package slackfake

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What Slack's reference of chat.postMessage and chat.update allows. An edit's
// text is held to less than a new message's.
const (
	mostMessage = 40_000
	mostEdit    = 4000
)

var timestamp = regexp.MustCompile(`^\d{9,10}\.\d{6}$`)

// api answers a method of the Web API. The caller holds the lock.
func (f *Fake) api(method string, r *http.Request, body []byte) answer {
	args, problem := parse(r, body)
	if problem != "" {
		return refused(problem)
	}
	switch token(r, args) {
	case f.config.Token:
	case "":
		return refused("not_authed")
	default:
		return refused("invalid_auth")
	}
	var a answer
	switch method {
	case "auth.test":
		a = done(object{
			"url": "https://shop.slack.example/", "team": "Shop", "user": botName,
			"team_id": "T00000001", "user_id": botUser, "bot_id": botID, "is_enterprise_install": false,
		})
	case "chat.postMessage":
		a = f.post(args)
	case "chat.update":
		a = f.update(args)
	case "files.getUploadURLExternal":
		a = f.announce(r, args)
	case "files.completeUploadExternal":
		a = f.complete(args)
	default:
		a = document("unknown_method", object{"ok": false, "error": "unknown_method", "req_method": method})
	}
	if args.noCharset {
		a = warned(a, "missing_charset")
	}
	return a.with("X-OAuth-Scopes", strings.Join(f.config.Scopes, ","))
}

// Who the app is in the workspace.
const (
	botName = "perch"
	botUser = "U00000001"
	botID   = "B00000001"
)

// with gives an answer its one header.
func (a answer) with(name, value string) answer {
	a.header = http.Header{}
	a.header.Set(name, value)
	return a
}

// warned adds Slack's warning to an answer.
func warned(a answer, code string) answer {
	var content object
	if err := json.Unmarshal(a.body, &content); err != nil {
		panic(err) // the fake's own document
	}
	metadata, given := content["response_metadata"].(object)
	if !given {
		metadata = object{}
	}
	metadata["warnings"] = []string{code}
	content["warning"], content["response_metadata"] = code, metadata
	return document(a.result, content)
}

func (f *Fake) post(args arguments) answer {
	f.known("chat.postMessage", args, "channel", "text", "blocks", "thread_ts", "reply_broadcast",
		"unfurl_links", "unfurl_media", "mrkdwn", "parse", "link_names", "username", "icon_url", "icon_emoji", "metadata")
	if no, ok := f.granted("chat:write"); !ok {
		return no
	}
	channel, ok := f.channel(args.get("channel"), true)
	switch {
	case !ok:
		return refused(errChannel)
	case channel.Archived:
		return refused("is_archived")
	case !channel.Member && !slices.Contains(f.config.Scopes, "chat:write.public"):
		return refused("not_in_channel")
	}
	blocks, no, ok := f.content(args, mostMessage)
	if !ok {
		return no
	}
	thread, problem := f.thread(channel.ID, args)
	if problem != "" {
		return refused(problem)
	}
	broadcast := thread != "" && args.get("reply_broadcast") == "true"
	m := f.keep(Message{Channel: channel.ID, Thread: thread, Broadcast: broadcast, Text: args.get("text"), Blocks: blocks, By: botID})
	return done(object{"channel": m.Channel, "ts": m.TS, "message": m.shown()})
}

// thread finds the root that a message replies to. One that is gone is no
// error at Slack: the message then stands in the channel, outside any thread.
func (f *Fake) thread(channel string, args arguments) (root, problem string) {
	ts := args.get("thread_ts")
	if ts == "" {
		return "", ""
	}
	if !timestamp.MatchString(ts) {
		return "", "invalid_thread_ts"
	}
	to := f.find(channel, ts)
	if to == nil {
		f.remark("a reply to the thread %s, which does not exist, stands outside any thread", ts)
		return "", ""
	}
	if to.Thread != "" {
		f.remark("a reply to the reply %s: thread_ts must be the root's", ts)
		return to.Thread, ""
	}
	return ts, ""
}

func (f *Fake) update(args arguments) answer {
	f.known("chat.update", args, "channel", "ts", "text", "blocks", "parse", "link_names", "reply_broadcast", "metadata", "as_user")
	if no, ok := f.granted("chat:write"); !ok {
		return no
	}
	channel, ok := f.channel(args.get("channel"), false) // a name will not do here
	switch {
	case !ok:
		return refused(errChannel)
	case channel.Archived:
		return refused("is_inactive")
	}
	m := f.find(channel.ID, args.get("ts"))
	switch {
	case m == nil:
		return refused("message_not_found")
	case m.By != botID:
		return refused("cant_update_message")
	case f.config.EditWindow > 0 && f.config.Now().Sub(m.Posted) > f.config.EditWindow:
		return refused("edit_window_closed")
	}
	blocks, no, ok := f.content(args, mostEdit)
	if !ok {
		return no
	}
	m.Edits = append(m.Edits, Version{Text: m.Text, Blocks: m.Blocks})
	m.Blocks = blocks // a text alone takes the blocks away
	if args.has("text") {
		m.Text = args.get("text")
	}
	f.happened("edited", *m)
	return done(object{"channel": m.Channel, "ts": m.TS, "text": m.Text, "message": m.shown()})
}

// content checks what a message says, and returns its blocks; nil: none.
func (f *Fake) content(args arguments, most int) (json.RawMessage, answer, bool) {
	text, blocks := args.get("text"), args.get("blocks")
	empty := strings.TrimSpace(blocks) == "" || strings.TrimSpace(blocks) == "[]"
	if empty && text == "" {
		return nil, refused("no_text"), false
	}
	if utf8.RuneCountInString(text) > most {
		return nil, refused("msg_too_long"), false
	}
	if empty {
		return nil, answer{}, true
	}
	if text == "" {
		f.remark("a message of blocks without a text: notifications show nothing, screen readers read nothing")
	}
	wrong, ok := CheckBlocks([]byte(blocks))
	switch {
	case !ok:
		return nil, refused(errFormat), false
	case len(wrong) > 0:
		return nil, refusedBecause(errBlocks, wrong), false
	case f.config.BlockBytes > 0 && len(compact(blocks)) > f.config.BlockBytes:
		return nil, refused("msg_blocks_too_long"), false
	}
	return json.RawMessage(blocks), answer{}, true
}

// compact is a JSON text without its blanks and escapes, as Slack keeps it.
func compact(text string) string {
	var value any
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := errors.Join(json.Unmarshal([]byte(text), &value), encoder.Encode(&value)); err != nil {
		panic(err) // CheckBlocks has read it
	}
	return strings.TrimSpace(b.String())
}

// keep records a new message under an id of its own.
func (f *Fake) keep(m Message) *Message {
	m.Posted = f.config.Now()
	m.TS = f.nextTS()
	f.messages = append(f.messages, &m)
	what := "posted"
	if m.Thread != "" {
		what = "replied"
	}
	f.happened(what, m)
	return &m
}

func (f *Fake) nextTS() string {
	f.serial++
	return fmt.Sprintf("%d.%06d", f.config.Now().Unix(), f.serial)
}

func (f *Fake) find(channel, ts string) *Message {
	at := slices.IndexFunc(f.messages, func(m *Message) bool { return m.Channel == channel && m.TS == ts })
	if at < 0 {
		return nil
	}
	return f.messages[at]
}
