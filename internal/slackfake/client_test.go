package slackfake

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const (
	bot      = "xoxb-test"
	stock    = "C00000STOCK"
	hookPath = "/services/T00000001/B00000002/aSecret"
)

func workspace() Config {
	return Config{
		Token: bot, Scopes: []string{"chat:write", "files:write"},
		Channels: []Channel{
			{ID: stock, Name: "stock", Member: true},
			{ID: "C0000000ALL", Name: "all"},
			{ID: "C0000SECRET", Name: "secret", Private: true},
			{ID: "C0000000OLD", Name: "old", Archived: true, Member: true},
		},
		Hooks: []Hook{{Path: hookPath, Channel: stock}, {Path: "/services/T1/B1/old", Channel: "C0000000OLD"}, {Path: "/services/T1/B1/gone", Channel: "C00000GONE1"}},
		Now:   func() time.Time { return time.Unix(1772452800, 0) },
	}
}

// caller calls a fake as a client would.
type caller struct {
	t    *testing.T
	fake *Fake
}

func start(t *testing.T, change ...func(*Config)) caller {
	t.Helper()
	c := workspace()
	for _, how := range change {
		how(&c)
	}
	return caller{t, New(c)}
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   string
	OK     bool
	Error  string
	TS     string
	Detail struct{ Messages, Warnings []string } `json:"response_metadata"`
	Errors []string
	Needed string

	Provided string
	Message  struct {
		Thread string `json:"thread_ts"`
	}
	URL   string `json:"upload_url"`
	File  string `json:"file_id"`
	Files []struct{ ID, Title string }
}

func (c caller) do(address string, body io.Reader, header ...string) (reply, error) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, address, body)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: c.fake.Transport()}).Do(r)
	if err != nil {
		return reply{}, err
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		c.t.Fatal(err)
	}
	got := reply{status: resp.StatusCode, header: resp.Header, body: string(content)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(content, &got); err != nil {
			c.t.Fatalf("the answer %q is not JSON: %v", content, err)
		}
	}
	return got, nil
}

func (c caller) send(address string, body io.Reader, header ...string) reply {
	c.t.Helper()
	got, err := c.do(address, body, header...)
	if err != nil {
		c.t.Fatal(err)
	}
	return got
}

// json calls a method with a JSON document.
func (c caller) json(method string, args object) reply {
	c.t.Helper()
	body, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.send("https://slack.com/api/"+method, bytes.NewReader(body),
		"Content-Type", "application/json; charset=utf-8", "Authorization", "Bearer "+bot)
}

// form calls a method with a form: names and values.
func (c caller) form(method string, args ...string) reply {
	c.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(args); i += 2 {
		values.Set(args[i], args[i+1])
	}
	return c.send("https://slack.com/api/"+method, strings.NewReader(values.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", "Bearer "+bot)
}

// hook sends to a webhook.
func (c caller) hook(path, body string) reply {
	c.t.Helper()
	return c.send("https://hooks.slack.com"+path, strings.NewReader(body), "Content-Type", "application/json")
}

// upload goes through the three steps.
func (c caller) upload(content, channel, thread string) reply {
	c.t.Helper()
	got := c.form("files.getUploadURLExternal", "filename", "ladder.png", "length", "7", "alt_txt", "the ladder")
	if !got.OK {
		return got
	}
	if sent := c.send(got.URL, strings.NewReader(content), "Content-Type", "image/png"); sent.status != http.StatusOK {
		return sent
	}
	return c.form("files.completeUploadExternal", "files", `[{"id":"`+got.File+`","title":"The ladder"}]`, "channel_id", channel, "thread_ts", thread)
}

// inForm puts files into a form.
func inForm(t *testing.T, files ...string) (io.Reader, string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, content := range files {
		part, err := w.CreateFormFile("file", "ladder.png")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, w.FormDataContentType()
}
