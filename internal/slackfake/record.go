package slackfake

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Call is one request.
type Call struct {
	Number   int // from 1
	Method   string
	At       time.Time
	Accepted bool   // Slack did what was asked, whatever it answered
	Result   string // "ok", an error, a fault; empty while it lasts
}

// Message is one that stands in a channel.
type Message struct {
	Channel string // id
	TS      string // its own id there
	Thread  string // the root's id; empty: it is no reply
	// Broadcast says that a reply is shown in the channel, too.
	Broadcast bool
	Text      string
	Blocks    json.RawMessage // nil: none
	Edits     []Version       // what it said before, oldest first
	Posted    time.Time
	By        string
}

// Version is what a message said before it was edited.
type Version struct {
	Text   string
	Blocks json.RawMessage
}

// Event is one thing that Slack accepted.
type Event struct {
	What    string // posted, replied, edited, shared (a file)
	Channel string
	TS      string // the message's, or the file's id
	Thread  string // the root's; empty: outside any thread
	Title   string // the message's header, else its text; the file's title
	At      time.Time
}

// begin records a call, and takes its fault.
func (f *Fake) begin(r *http.Request) (Call, Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := Call{Number: len(f.calls) + 1, Method: methodOf(r.URL.Path), At: f.config.Now()}
	f.calls = append(f.calls, call)
	return call, f.next(call)
}

func (f *Fake) end(call Call, result string, accepted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call.Number-1].Result, f.calls[call.Number-1].Accepted = result, accepted
}

// happened records what was accepted. The caller holds the lock.
func (f *Fake) happened(what string, m Message) {
	f.events = append(f.events, Event{What: what, Channel: m.Channel, TS: m.TS, Thread: m.Thread, Title: m.Title(), At: f.config.Now()})
}

func (f *Fake) keepFile(file File) {
	f.events = append(f.events, Event{What: "shared", Channel: file.Channel, TS: file.ID, Thread: file.Thread, Title: file.Title, At: file.Shared})
	f.shared = append(f.shared, file)
}

// Calls are all requests, in the order in which they came.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Events are all that was accepted, in order.
func (f *Fake) Events() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// Messages are the channels' messages, as they stand now, oldest first.
func (f *Fake) Messages() []Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Message, len(f.messages))
	for i, m := range f.messages {
		all[i] = m.clone()
	}
	return all
}

// Files are those that were shared, oldest first.
func (f *Fake) Files() []File {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.shared)
	for i := range all {
		all[i].Content = bytes.Clone(all[i].Content)
	}
	return all
}

// Remarks are what Slack let pass and no program should send: a reply outside
// its thread, an argument that does not exist, a file that nobody sees.
func (f *Fake) Remarks() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.remarks)
}

// Say posts a message as somebody else, and returns its id.
func (f *Fake) Say(channel, text string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keep(Message{Channel: channel, Text: text, By: "U99999999"}).TS
}

// Delete takes a message away, as people do by hand. What was replied to it
// stays.
func (f *Fake) Delete(channel, ts string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = slices.DeleteFunc(f.messages, func(m *Message) bool { return m.Channel == channel && m.TS == ts })
}

func (m *Message) clone() Message {
	c := *m
	c.Edits, c.Blocks = slices.Clone(m.Edits), bytes.Clone(m.Blocks)
	return c
}

// Title is the message's header, or the first line of its text.
func (m Message) Title() string {
	var blocks []struct {
		Type string
		Text struct{ Text string }
	}
	if json.Unmarshal(m.Blocks, &blocks) == nil {
		for _, b := range blocks {
			if b.Type == "header" {
				return b.Text.Text
			}
		}
	}
	first, _, _ := strings.Cut(m.Text, "\n")
	return first
}

// shown is a message as the Web API gives it back.
func (m Message) shown() object {
	shown := object{"type": "message", "subtype": "bot_message", "bot_id": m.By, "user": botUser, "text": m.Text, "ts": m.TS}
	if m.Thread != "" {
		shown["thread_ts"] = m.Thread
	}
	if m.Blocks != nil {
		shown["blocks"] = m.Blocks
	}
	return shown
}
