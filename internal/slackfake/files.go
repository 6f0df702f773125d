package slackfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	uploadPath = "/upload/v1/"
	mostAltTxt = 1000 // of an uploaded image
)

const channelPattern = `^[CGDZ][A-Z0-9]{8,}$`

// upload is a file on its way.
type upload struct {
	id, ticket, name, alt string
	length                int
	content               []byte
	received, shared      bool
}

// announce gives out where to send a file's bytes.
func (f *Fake) announce(r *http.Request, args arguments) answer {
	f.known("files.getUploadURLExternal", args, "filename", "length", "alt_txt", "snippet_type")
	if no, ok := f.granted("files:write"); !ok {
		return no
	}
	if args.json { // documented, and yet: integrators met that only forms are read here
		return refusedBecause(errArguments, []string{"missing required field: filename", "missing required field: length"})
	}
	for _, name := range []string{"filename", "length"} {
		if args.get(name) == "" {
			return refusedBecause(errArguments, []string{"missing required field: " + name})
		}
	}
	length, err := strconv.Atoi(args.get("length"))
	switch {
	case err != nil || length < 0:
		return refusedBecause(errArguments, []string{"must be a valid number [json-pointer:/length]"})
	case length == 0:
		return refused("missing_argument")
	case utf8.RuneCountInString(args.get("alt_txt")) > mostAltTxt:
		return refused("alt_txt_too_large")
	}
	f.serial++
	u := &upload{
		id: fmt.Sprintf("F%08d", f.serial), ticket: fmt.Sprintf("ticket-%d", f.serial),
		name: args.get("filename"), alt: args.get("alt_txt"), length: length,
	}
	f.uploads = append(f.uploads, u)
	return done(object{"upload_url": uploadHost(r) + uploadPath + u.ticket, "file_id": u.id})
}

// uploadHost is where files go: Slack's own host for them, or, behind a test's
// server, that server.
func uploadHost(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	host := r.Host
	if host == "slack.com" {
		host = "files.slack.com"
	}
	return scheme + "://" + host
}

// receive takes a file's bytes.
func (f *Fake) receive(r *http.Request, body []byte) answer {
	at := slices.IndexFunc(f.uploads, func(u *upload) bool { return uploadPath+u.ticket == r.URL.Path })
	if at < 0 {
		return page(http.StatusNotFound, "no such upload")
	}
	u := f.uploads[at]
	content, problem := fileOf(r, body)
	switch {
	case u.received:
		return page(http.StatusBadRequest, "uploaded already")
	case problem != "":
		return page(http.StatusBadRequest, problem)
	case len(content) != u.length:
		return page(http.StatusBadRequest, fmt.Sprintf("%d bytes came, %d were announced", len(content), u.length))
	}
	u.content, u.received = content, true
	return page(http.StatusOK, fmt.Sprintf("OK - %d", len(content)))
}

// fileOf is the file in a request: its body, or the one file of its form.
func fileOf(r *http.Request, body []byte) ([]byte, string) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return body, ""
	}
	form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(mostBody)
	if err != nil {
		return nil, "the form is broken"
	}
	defer func() { _ = form.RemoveAll() }()
	var all []*multipart.FileHeader
	for _, headers := range form.File {
		all = append(all, headers...)
	}
	if len(all) != 1 {
		return nil, fmt.Sprintf("%d files in the form, want 1", len(all))
	}
	file, err := all[0].Open()
	if err != nil {
		return nil, "the form is broken"
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, "the form is broken"
	}
	return content, ""
}

// complete shares files that were received.
func (f *Fake) complete(args arguments) answer {
	f.known("files.completeUploadExternal", args, "files", "channel_id", "thread_ts", "initial_comment", "channels", "blocks")
	if no, ok := f.granted("files:write"); !ok {
		return no
	}
	var named []struct{ ID, Title string }
	if json.Unmarshal([]byte(args.get("files")), &named) != nil || len(named) == 0 || args.json {
		return refusedBecause(errArguments, []string{"missing required field: files"})
	}
	to := args.get("channel_id")
	if to == "" {
		f.remark("a file that is shared nowhere: nobody sees it")
		return f.share(named, "", "")
	}
	if !regexp.MustCompile(channelPattern).MatchString(to) {
		return refusedBecause(errArguments, []string{"input must match regex pattern: " + channelPattern + " [json-pointer:/channel_id]"})
	}
	channel, ok := f.channel(to, false)
	switch {
	case !ok:
		return refused(errChannel)
	case channel.Archived:
		return refused("is_archived")
	case !channel.Member: // chat:write.public is for messages alone
		return refused("not_in_channel")
	}
	thread, problem := f.thread(channel.ID, args)
	if problem != "" {
		return refused(problem)
	}
	return f.share(named, channel.ID, thread)
}

func (f *Fake) share(named []struct{ ID, Title string }, channel, thread string) answer {
	var shared []*upload
	for _, n := range named {
		at := slices.IndexFunc(f.uploads, func(u *upload) bool { return u.id == n.ID && u.received && !u.shared })
		if at < 0 || slices.Contains(shared, f.uploads[at]) {
			return refused("file_not_found")
		}
		shared = append(shared, f.uploads[at])
	}
	var said []object
	for i, u := range shared {
		u.shared = true
		title := named[i].Title
		if strings.TrimSpace(title) == "" {
			title = u.name
		}
		said = append(said, object{"id": u.id, "title": title})
		f.keepFile(File{
			ID: u.id, Name: u.name, Title: title, Alt: u.alt, Content: u.content,
			Channel: channel, Thread: thread, Shared: f.config.Now(),
		})
	}
	return done(object{"files": said})
}

// File is one that was shared.
type File struct {
	ID, Name, Title string
	Alt             string // what a screen reader says of it
	Content         []byte
	Channel, Thread string // Thread: the root's id; empty: outside any thread
	Shared          time.Time
}
