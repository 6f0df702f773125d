package slackfake

import (
	"net/http"
	"strings"
	"testing"
)

func TestAFileComesIntoAThread(t *testing.T) {
	c := start(t)
	root := c.json("chat.postMessage", object{"channel": "stock", "text": "root"})
	got := c.upload("a ladder"[:7], stock, root.TS)
	if !got.OK || len(got.Files) != 1 || got.Files[0].Title != "The ladder" {
		t.Fatalf("the upload: %s", got.body)
	}
	files := c.fake.Files()
	if len(files) != 1 || files[0].Thread != root.TS || files[0].Channel != stock || string(files[0].Content) != "a ladde" ||
		files[0].Name != "ladder.png" || files[0].Title != "The ladder" || files[0].Alt != "the ladder" {
		t.Errorf("it is kept as %+v", files)
	}
	if last := c.fake.Events()[1]; last.What != "shared" || last.Thread != root.TS || len(c.fake.Remarks()) != 0 {
		t.Errorf("it happened as %+v, remarks %q", last, c.fake.Remarks())
	}
}

func TestAnnouncedFiles(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"a file", []string{"filename", "a.png", "length", "3"}, ""},
		{"no name", []string{"length", "3"}, "invalid_arguments"},
		{"no length", []string{"filename", "a.png"}, "invalid_arguments"},
		{"a word", []string{"filename", "a.png", "length", "three"}, "invalid_arguments"},
		{"nothing in it", []string{"filename", "a.png", "length", "0"}, "missing_argument"},
		{"a long description", []string{"filename", "a.png", "length", "3", "alt_txt", strings.Repeat("x", 1001)}, "alt_txt_too_large"},
	}
	for _, tt := range tests {
		got := start(t).form("files.getUploadURLExternal", tt.args...)
		if got.Error != tt.want || (got.URL != "") != got.OK || got.OK && !strings.HasPrefix(got.URL, "https://files.slack.com/upload/v1/") {
			t.Errorf("%s: %s, want %q", tt.name, got.body, tt.want)
		}
	}
	if got := start(t).json("files.getUploadURLExternal", object{"filename": "a.png", "length": 3}); got.Error != "invalid_arguments" || len(got.Detail.Messages) != 2 || got.Errors != nil {
		t.Errorf("as a document: %s", got.body)
	}
	got := start(t, func(c *Config) { c.Scopes = []string{"chat:write"} }).form("files.getUploadURLExternal", "filename", "a.png", "length", "3")
	if got.Error != "missing_scope" || got.Needed != "files:write" || got.Provided != "chat:write" {
		t.Errorf("without the scope: %s", got.body)
	}
}

func TestReceivedFiles(t *testing.T) {
	announced := func(c caller) reply {
		return c.form("files.getUploadURLExternal", "filename", "a.png", "length", "3")
	}
	for name, tt := range map[string]struct {
		files  []string
		status int
	}{
		"in a form": {[]string{"abc"}, 200}, "too short": {[]string{"ab"}, 400}, "too long": {[]string{"abcd"}, 400},
		"two": {[]string{"abc", "abc"}, 400}, "none": {nil, 400},
	} {
		c := start(t)
		body, kind := inForm(t, tt.files...)
		if got := c.send(announced(c).URL, body, "Content-Type", kind); got.status != tt.status {
			t.Errorf("%s: %d %q, want %d", name, got.status, got.body, tt.status)
		}
	}
	c := start(t)
	to := announced(c)
	if got := c.send(to.URL, strings.NewReader("ab")); got.status != http.StatusBadRequest {
		t.Errorf("fewer bytes than announced: %d %q", got.status, got.body)
	}
	if got := c.send(to.URL, strings.NewReader("abc")); got.body != "OK - 3" {
		t.Errorf("the bytes: %d %q", got.status, got.body)
	}
	if got := c.send(to.URL, strings.NewReader("abc")); got.status != http.StatusBadRequest {
		t.Errorf("twice: %d %q", got.status, got.body)
	}
	if got := c.send(to.URL+"0", strings.NewReader("abc")); got.status != http.StatusNotFound {
		t.Errorf("to another address: %d %q", got.status, got.body)
	}
}

func TestCompletedFiles(t *testing.T) {
	tests := []struct {
		name, channel, thread string
		change                func(*Config)
		want                  string
	}{
		{"by name", "#stock", "", nil, "invalid_arguments"},
		{"nowhere", "C00000GONE1", "", nil, "channel_not_found"},
		{"not invited", "C0000000ALL", "", func(c *Config) { c.Scopes = append(c.Scopes, "chat:write.public") }, "not_in_channel"},
		{"a secret channel", "C0000SECRET", "", nil, "channel_not_found"},
		{"archived", "C0000000OLD", "", nil, "is_archived"},
		{"no thread's id", stock, "first", nil, "invalid_thread_ts"},
		{"shown to all", stock, "", nil, ""},
	}
	for _, tt := range tests {
		var changes []func(*Config)
		if tt.change != nil {
			changes = append(changes, tt.change)
		}
		if got := start(t, changes...).upload("1234567", tt.channel, tt.thread); got.Error != tt.want {
			t.Errorf("%s: %s, want %q", tt.name, got.body, tt.want)
		}
	}
	c := start(t)
	to := c.form("files.getUploadURLExternal", "filename", "a.png", "length", "3")
	complete := func(files string, args ...string) reply {
		return c.form("files.completeUploadExternal", append([]string{"files", files, "channel_id", stock}, args...)...)
	}
	one := `[{"id":"` + to.File + `"}]`
	for files, want := range map[string]string{
		one: "file_not_found", `[]`: "invalid_arguments", `x`: "invalid_arguments", `[{"id":"F9"}]`: "file_not_found",
	} {
		if got := complete(files); got.Error != want {
			t.Errorf("%s before its bytes came: %s, want %q", files, got.body, want)
		}
	}
	c.send(to.URL, strings.NewReader("abc"))
	if got := complete(`[{"id":"` + to.File + `"},{"id":"` + to.File + `"}]`); got.Error != "file_not_found" {
		t.Errorf("one file as two: %s", got.body)
	}
	if got := complete(one); !got.OK || got.Files[0].Title != "a.png" {
		t.Errorf("completed: %s", got.body)
	}
	if got := complete(one); got.Error != "file_not_found" || len(c.fake.Files()) != 1 {
		t.Errorf("completed twice: %s, %d files", got.body, len(c.fake.Files()))
	}
	if got := c.upload("1234567", "", ""); !got.OK || len(c.fake.Remarks()) != 1 {
		t.Errorf("shared nowhere: %s, remarks %q", got.body, c.fake.Remarks())
	}
	if got := c.upload("1234567", stock, "1772452800.999999"); !got.OK || c.fake.Files()[2].Thread != "" || len(c.fake.Remarks()) != 2 {
		t.Errorf("into a thread that is gone: %s, remarks %q", got.body, c.fake.Remarks())
	}
}
