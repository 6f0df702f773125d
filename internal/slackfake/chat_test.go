package slackfake

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhoMayCall(t *testing.T) {
	const kind, form = "Content-Type", "application/x-www-form-urlencoded"
	const address = "https://slack.com/api/auth.test"
	tests := []struct {
		name, url, body string
		header          []string
		want            string
	}{
		{"a bearer", address, "", []string{"Authorization", "Bearer " + bot}, ""},
		{"a form's token", address, "token=" + bot, []string{kind, form}, ""},
		{"no token", address, "", nil, "not_authed"},
		{"another token", address, "", []string{"Authorization", "Bearer xoxb-other"}, "invalid_auth"},
		{"no bearer", address, "", []string{"Authorization", bot}, "not_authed"},
		{"in the address", address + "?token=" + bot, "", nil, "not_authed"},
		{"in a document", address, `{"token":"` + bot + `"}`, []string{kind, "application/json; charset=utf-8"}, "not_authed"},
	}
	for _, tt := range tests {
		got := start(t).send(tt.url, strings.NewReader(tt.body), tt.header...)
		if got.Error != tt.want || got.OK != (tt.want == "") || got.status != http.StatusOK {
			t.Errorf("%s: %d %s, want %q", tt.name, got.status, got.body, tt.want)
		}
	}
	if got := start(t).json("auth.test", object{}); got.header.Get("X-OAuth-Scopes") != "chat:write,files:write" || !strings.Contains(got.body, botID) {
		t.Errorf("auth.test says %q with the scopes %q", got.body, got.header.Get("X-OAuth-Scopes"))
	}
}

func TestHowACallIsWritten(t *testing.T) {
	tests := []struct{ name, kind, body, want string }{
		{"a form", "application/x-www-form-urlencoded", "channel=stock&text=hi", ""},
		{"a document", "application/json; charset=utf-8", `{"channel":"stock","text":"hi"}`, ""},
		{"not JSON", "application/json; charset=utf-8", `{"channel":"stock",`, "invalid_json"},
		{"a list", "application/json; charset=utf-8", `[1]`, "json_not_object"},
		{"nothing said", "application/json; charset=utf-8", `{"channel":"stock","text":null}`, "no_text"},
		{"parts", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"channel\"\r\n\r\nstock\r\n--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhi\r\n--x--\r\n", ""},
		{"bytes", "application/json; charset=utf-8", "{\"channel\":\"stock\",\"text\":\"\xff\"}", "invalid_json"},
		{"no form", "application/x-www-form-urlencoded", "channel=%zz", "invalid_form_data"},
		{"broken letters", "application/x-www-form-urlencoded", "channel=stock&text=%ff", "invalid_form_data"},
		{"twice", "application/x-www-form-urlencoded", "channel=stock&text=a&text=b", "invalid_array_arg"},
		{"no parts", "multipart/form-data; boundary=x", "channel", "invalid_form_data"},
		{"XML", "application/xml", "<a/>", "invalid_post_type"},
		{"no type", "", "channel=stock", "missing_post_type"},
		{"a charset", "application/json; charset=utf-16", "{}", "invalid_charset"},
	}
	for _, tt := range tests {
		header := []string{"Authorization", "Bearer " + bot}
		if tt.kind != "" {
			header = append(header, "Content-Type", tt.kind)
		}
		c := start(t)
		got := c.send("https://slack.com/api/chat.postMessage", strings.NewReader(tt.body), header...)
		if got.Error != tt.want || len(c.fake.Messages()) != map[bool]int{true: 1}[tt.want == ""] {
			t.Errorf("%s: %s and %d messages, want %q", tt.name, got.body, len(c.fake.Messages()), tt.want)
		}
	}
	c := start(t)
	got := c.send("https://slack.com/api/chat.postMessage", strings.NewReader(`{"channel":"stock","text":"hi"}`), "Content-Type", "application/json", "Authorization", "Bearer "+bot)
	if !got.OK || !slices.Equal(got.Detail.Warnings, []string{"missing_charset"}) {
		t.Errorf("a document without its charset: %s", got.body)
	}
	got = c.send("https://slack.com/api/chat.postMessage", strings.NewReader(`{"channel":"stock","text":"hi","blocks":[{"type":"x"}]}`), "Content-Type", "application/json", "Authorization", "Bearer "+bot)
	if len(got.Detail.Messages) != 1 || len(got.Detail.Warnings) != 1 {
		t.Errorf("a refusal with a warning: %s", got.body)
	}
	if got := c.json("chat.postMessage", object{"channel": "stock", "text": "hi"}); got.Detail.Warnings != nil {
		t.Errorf("a document with its charset: %s", got.body)
	}
	if got := c.json("chat.delete", object{}); got.Error != "unknown_method" {
		t.Errorf("what the fake does not know: %s", got.body)
	}
	c.json("chat.postMessage", object{"channel": "stock", "text": "hi", "thread": "1"})
	c.json("chat.update", object{"message": "1"})
	c.form("files.getUploadURLExternal", "size", "3")
	c.form("files.completeUploadExternal", "file", "F1")
	c.hook(hookPath, `{"channel":"#all"}`)
	var wrong []string
	for _, remark := range c.fake.Remarks() {
		wrong = append(wrong, remark[strings.Index(remark, `"`):])
	}
	if want := []string{`"thread"`, `"message"`, `"size"`, `"file"`, `"channel"`}; !slices.Equal(wrong, want) {
		t.Errorf("arguments that do not exist: %q, want %q", wrong, want)
	}
}

func TestWhereAMessageMayGo(t *testing.T) {
	public := func(c *Config) { c.Scopes = append(c.Scopes, "chat:write.public") }
	silent := func(c *Config) { c.Scopes = []string{"files:write"} }
	tests := []struct {
		channel string
		change  func(*Config)
		want    string
	}{
		{"#stock", nil, ""}, {"stock", nil, ""}, {stock, nil, ""},
		{"#nowhere", nil, "channel_not_found"}, {"", nil, "channel_not_found"},
		{"#all", nil, "not_in_channel"}, {"#all", public, ""},
		{"#secret", public, "channel_not_found"},
		{"#old", nil, "is_archived"},
		{"#stock", silent, "missing_scope"},
	}
	for _, tt := range tests {
		var changes []func(*Config)
		if tt.change != nil {
			changes = append(changes, tt.change)
		}
		got := start(t, changes...).json("chat.postMessage", object{"channel": tt.channel, "text": "hi"})
		if got.Error != tt.want {
			t.Errorf("%q: %s, want %q", tt.channel, got.body, tt.want)
		}
		if tt.want == "missing_scope" && (got.Needed != "chat:write" || got.Provided != "files:write") {
			t.Errorf("the scopes: %s", got.body)
		}
	}
}

func TestWhatAMessageMaySay(t *testing.T) {
	section := object{"type": "section", "text": object{"type": "mrkdwn", "text": "hi"}}
	tests := []struct {
		name string
		args object
		want string
	}{
		{"nothing", object{}, "no_text"},
		{"no blocks", object{"blocks": []any{}}, "no_text"},
		{"a long text", object{"text": strings.Repeat("x", 40_000)}, ""},
		{"a longer one", object{"text": strings.Repeat("x", 40_001)}, "msg_too_long"},
		{"blocks", object{"text": "hi", "blocks": []any{section}}, ""},
		{"blocks as text", object{"text": "hi", "blocks": `[{"type":"divider"}]`}, ""},
		{"broken blocks", object{"text": "hi", "blocks": `[{"type":`}, "invalid_blocks_format"},
		{"one block", object{"text": "hi", "blocks": section}, "invalid_blocks_format"},
		{"bad blocks", object{"text": "hi", "blocks": []any{object{"type": "sections"}}}, "invalid_blocks"},
		{"escapes are one byte", object{"text": "hi", "blocks": `[{"type":"header","text":{"type":"plain_text","text":"` + strings.Repeat(`\u003c`, 50) + `"}}]`}, ""},
		{"too many bytes", object{"text": "hi", "blocks": []any{section, section, section}}, "msg_blocks_too_long"},
	}
	for _, tt := range tests {
		tt.args["channel"] = "stock"
		got := start(t, func(c *Config) { c.BlockBytes = 150 }).json("chat.postMessage", tt.args)
		if got.Error != tt.want {
			t.Errorf("%s: %.200s, want %q", tt.name, got.body, tt.want)
		}
	}
	got := start(t).json("chat.postMessage", object{"channel": "stock", "text": "hi", "blocks": []any{object{"type": "sections"}}})
	const why = "unsupported type: sections [json-pointer:/blocks/0/type]"
	if !slices.Equal(got.Errors, []string{why}) || !slices.Equal(got.Detail.Messages, []string{"[ERROR] " + why}) {
		t.Errorf("the refusal of blocks: %s", got.body)
	}
	c := start(t)
	c.json("chat.postMessage", object{"channel": "stock", "blocks": []any{section}})
	if len(c.fake.Remarks()) != 1 {
		t.Errorf("blocks without a text: %q", c.fake.Remarks())
	}
}

func TestThreads(t *testing.T) {
	c := start(t)
	root := c.json("chat.postMessage", object{"channel": "stock", "text": "root"})
	reply := c.json("chat.postMessage", object{"channel": stock, "text": "reply", "thread_ts": root.TS})
	if reply.Message.Thread != root.TS || len(c.fake.Remarks()) != 0 {
		t.Errorf("a reply: %s, remarks %q", reply.body, c.fake.Remarks())
	}
	if got := c.json("chat.postMessage", object{"channel": stock, "text": "for all", "thread_ts": root.TS, "reply_broadcast": true}); !got.OK || !c.fake.Messages()[2].Broadcast || c.fake.Messages()[1].Broadcast {
		t.Errorf("a reply for the channel: %s", got.body)
	}
	deeper := c.json("chat.postMessage", object{"channel": stock, "text": "deeper", "thread_ts": reply.TS})
	if deeper.Message.Thread != root.TS || len(c.fake.Remarks()) != 1 {
		t.Errorf("a reply to a reply: %s, remarks %q", deeper.body, c.fake.Remarks())
	}
	c.fake.Delete(stock, root.TS)
	lost := c.json("chat.postMessage", object{"channel": stock, "text": "lost", "thread_ts": root.TS})
	if !lost.OK || lost.Message.Thread != "" || len(c.fake.Remarks()) != 2 {
		t.Errorf("a reply to what is gone: %s, remarks %q", lost.body, c.fake.Remarks())
	}
	for _, bad := range []string{"1772452800", "root", "1772452800.1"} {
		if got := c.json("chat.postMessage", object{"channel": stock, "text": "x", "thread_ts": bad}); got.Error != "invalid_thread_ts" {
			t.Errorf("thread_ts %q: %s", bad, got.body)
		}
	}
	var did []string
	for _, e := range c.fake.Events() {
		did = append(did, e.What+" "+e.Title)
	}
	if want := []string{"posted root", "replied reply", "replied for all", "replied deeper", "posted lost"}; !slices.Equal(did, want) {
		t.Errorf("it went %q, want %q", did, want)
	}
}

func TestEdits(t *testing.T) {
	now := time.Unix(1772452800, 0)
	c := start(t, func(c *Config) { c.EditWindow, c.Now = time.Hour, func() time.Time { return now } })
	header := func(text string) []any {
		return []any{object{"type": "header", "text": object{"type": "plain_text", "text": text}}}
	}
	root := c.json("chat.postMessage", object{"channel": "stock", "text": "FIRING", "blocks": header("first")})
	if got := c.json("chat.update", object{"channel": stock, "ts": root.TS, "blocks": header("second")}); !got.OK || got.TS != root.TS {
		t.Fatalf("an edit: %s", got.body)
	}
	if m := c.fake.Messages()[0]; m.Text != "FIRING" || m.Title() != "second" || len(m.Edits) != 1 || !strings.Contains(string(m.Edits[0].Blocks), "first") {
		t.Errorf("edited: %+v", m)
	}
	c.json("chat.update", object{"channel": stock, "ts": root.TS, "text": "RESOLVED"})
	if m := c.fake.Messages()[0]; m.Text != "RESOLVED" || m.Blocks != nil || len(m.Edits) != 2 {
		t.Errorf("a text alone takes the blocks away: %+v", m)
	}
	if e := c.fake.Events(); len(e) != 3 || e[1].What != "edited" || e[1].Title != "second" || e[2].Title != "RESOLVED" {
		t.Errorf("it went %+v", e)
	}
	other := c.fake.Say(stock, "hello")
	c.hook(hookPath, `{"text":"by the webhook"}`)
	hooked := c.fake.Messages()[2].TS
	tests := []struct {
		name string
		args object
		want string
	}{
		{"by name", object{"channel": "#stock", "ts": root.TS, "text": "x"}, "channel_not_found"},
		{"another id", object{"channel": stock, "ts": "1772452800.999999", "text": "x"}, "message_not_found"},
		{"another channel", object{"channel": "C0000000ALL", "ts": root.TS, "text": "x"}, "message_not_found"},
		{"a person's", object{"channel": stock, "ts": other, "text": "x"}, "cant_update_message"},
		{"a webhook's", object{"channel": stock, "ts": hooked, "text": "x"}, "cant_update_message"},
		{"nothing", object{"channel": stock, "ts": root.TS}, "no_text"},
		{"a long text", object{"channel": stock, "ts": root.TS, "text": strings.Repeat("x", 4001)}, "msg_too_long"},
		{"bad blocks", object{"channel": stock, "ts": root.TS, "text": "x", "blocks": header("")}, "invalid_blocks"},
	}
	for _, tt := range tests {
		if got := c.json("chat.update", tt.args); got.Error != tt.want {
			t.Errorf("%s: %s, want %q", tt.name, got.body, tt.want)
		}
	}
	now = now.Add(time.Hour + time.Second)
	if got := c.json("chat.update", object{"channel": stock, "ts": root.TS, "text": "x"}); got.Error != "edit_window_closed" {
		t.Errorf("too late: %s", got.body)
	}
	c.fake.Change(func(c *Config) { c.Channels[0].Archived = true })
	if got := c.json("chat.update", object{"channel": stock, "ts": root.TS, "text": "x"}); got.Error != "is_inactive" {
		t.Errorf("archived: %s", got.body)
	}
	c.fake.Change(func(c *Config) { c.Scopes = nil })
	if got := c.json("chat.update", object{"channel": stock, "ts": root.TS, "text": "x"}); got.Error != "missing_scope" {
		t.Errorf("without a scope: %s", got.body)
	}
}

func TestWebhooks(t *testing.T) {
	tests := []struct {
		name, path, body string
		status           int
		says             string
	}{
		{"a text", hookPath, `{"text":"hi"}`, 200, "ok"},
		{"blocks", hookPath, `{"text":"hi","blocks":[{"type":"divider"}]}`, 200, "ok"},
		{"not JSON", hookPath, `{"text":`, 400, "invalid_payload"},
		{"a list", hookPath, `[]`, 400, "invalid_payload"},
		{"nothing", hookPath, `{}`, 400, "no_text"},
		{"bad blocks", hookPath, `{"text":"hi","blocks":[{"type":"x"}]}`, 400, "invalid_blocks"},
		{"too long", hookPath, `{"text":"` + strings.Repeat("x", 40_001) + `"}`, 400, "msg_too_long"},
		{"a thread", hookPath, `{"text":"hi","thread_ts":"first"}`, 400, "invalid_thread_ts"},
		{"another secret", hookPath + "x", `{"text":"hi"}`, 404, "no_service"},
		{"an archived channel", "/services/T1/B1/old", `{"text":"hi"}`, 410, "channel_is_archived"},
		{"no channel", "/services/T1/B1/gone", `{"text":"hi"}`, 404, "channel_not_found"},
	}
	for _, tt := range tests {
		c := start(t)
		got := c.hook(tt.path, tt.body)
		if got.status != tt.status || got.body != tt.says || len(c.fake.Messages()) != map[int]int{200: 1}[tt.status] {
			t.Errorf("%s: %d %q and %d messages, want %d %q", tt.name, got.status, got.body, len(c.fake.Messages()), tt.status, tt.says)
		}
	}
	c := start(t)
	c.hook(hookPath, `{"text":"hi"}`)
	c.hook(hookPath+"x", `{"text":"hi"}`)
	if calls := c.fake.Calls(); !calls[0].Accepted || calls[1].Accepted || calls[1].Result != "no_service" {
		t.Errorf("the calls are %+v", calls)
	}
	const address, form = "https://hooks.slack.com" + hookPath, "application/x-www-form-urlencoded"
	if got := c.send(address, strings.NewReader(`payload=%7B%22text%22%3A%22hi%22%7D`), "Content-Type", form); got.body != "ok" {
		t.Errorf("a form's payload: %q", got.body)
	}
	if got := c.send(address, strings.NewReader(`text=hi`), "Content-Type", form); got.body != "no_text" {
		t.Errorf("a form without a payload: %q", got.body)
	}
	c.hook(hookPath, `{"text":"hi","channel":"#all"}`)
	if remarks := c.fake.Remarks(); len(remarks) != 1 || !strings.Contains(remarks[0], "channel") {
		t.Errorf("a webhook has one channel: %q", remarks)
	}
}
