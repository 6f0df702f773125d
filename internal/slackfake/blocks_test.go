package slackfake

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func plain(text string) object  { return object{"type": "plain_text", "text": text} }
func mrkdwn(text string) object { return object{"type": "mrkdwn", "text": text} }

func times(n int, value any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = value
	}
	return list
}

// TestBlocks: each limit, just kept and just broken.
func TestBlocks(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	section := func(text any) object { return object{"type": "section", "text": text} }
	image := object{"type": "image", "image_url": "https://a.example/b.png", "alt_text": "b"}
	tests := []struct {
		name  string
		block object
		wrong []string
	}{
		{"header", object{"type": "header", "text": plain(x(150))}, nil},
		{"long header", object{"type": "header", "text": plain(x(151))}, []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "must be less than 151 characters [json-pointer:/blocks/0/text/text]"}},
		{"empty header", object{"type": "header", "text": plain("")}, []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "must be more than 0 characters [json-pointer:/blocks/0/text/text]"}},
		{"header in markup", object{"type": "header", "text": mrkdwn("x")}, []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"}},
		{"header without", object{"type": "header"}, []string{"missing required field: text [json-pointer:/blocks/0]"}},
		{"section", section(mrkdwn(x(3000))), nil},
		{"long section", section(mrkdwn(x(3001))), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"}},
		{"emoji count double", section(mrkdwn(strings.Repeat("🙂", 1501))), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"}},
		{"blanks", section(mrkdwn(" \n")), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "must be more than 0 characters [json-pointer:/blocks/0/text/text]"}},
		{"a string", section("x"), []string{"must provide an object [json-pointer:/blocks/0/text]"}},
		{"no string", section(object{"type": "mrkdwn", "text": 1}), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "missing required field: text [json-pointer:/blocks/0/text]"}},
		{"emoji in markup", section(object{"type": "mrkdwn", "text": "x", "emoji": true}), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "invalid additional property: emoji [json-pointer:/blocks/0/text]"}},
		{"verbatim", section(object{"type": "mrkdwn", "text": "x", "verbatim": true}), nil},
		{"verbatim as a word", section(object{"type": "mrkdwn", "text": "x", "verbatim": "yes"}), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "must be a boolean [json-pointer:/blocks/0/text/verbatim]"}},
		{"neither", object{"type": "section"}, []string{"must define either `text` or `fields` [json-pointer:/blocks/0]"}},
		{"fields", object{"type": "section", "fields": times(10, mrkdwn(x(2000)))}, nil},
		{"many fields", object{"type": "section", "fields": times(11, mrkdwn("x"))}, []string{"no more than 10 items allowed [json-pointer:/blocks/0/fields]"}},
		{"no fields", object{"type": "section", "fields": []any{}}, []string{"must provide a list of at least 1 item [json-pointer:/blocks/0/fields]"}},
		{"long field", object{"type": "section", "fields": []any{mrkdwn(x(2001))}}, []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/fields/0]", "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]"}},
		{"button", object{"type": "section", "text": mrkdwn("x"), "accessory": object{}}, []string{"invalid additional property: accessory [json-pointer:/blocks/0]"}},
		{"context", object{"type": "context", "elements": times(10, mrkdwn("x"))}, nil},
		{"picture in a context", object{"type": "context", "elements": []any{image}}, nil},
		{"long context", object{"type": "context", "elements": times(11, mrkdwn("x"))}, []string{"no more than 10 items allowed [json-pointer:/blocks/0/elements]"}},
		{"empty context", object{"type": "context", "elements": []any{}}, []string{"must provide a list of at least 1 item [json-pointer:/blocks/0/elements]"}},
		{"long element", object{"type": "context", "elements": []any{mrkdwn(x(3001))}}, []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/elements/0]", "must be less than 3001 characters [json-pointer:/blocks/0/elements/0/text]"}},
		{"divider", object{"type": "divider"}, nil},
		{"image", image, nil},
		{"our own file", object{"type": "image", "slack_file": object{"id": "F1"}, "alt_text": "b", "title": plain("t")}, nil},
		{"no address", object{"type": "image", "alt_text": "b"}, []string{"must define either `image_url` or `slack_file` [json-pointer:/blocks/0]"}},
		{"no words", object{"type": "image", "image_url": "https://a.example/"}, []string{"missing required field: alt_text [json-pointer:/blocks/0]"}},
		{"a path", object{"type": "image", "image_url": "/a.png", "alt_text": "b"}, []string{"must be a valid URL [json-pointer:/blocks/0/image_url]"}},
		{"a long description", object{"type": "image", "image_url": "https://a.example/", "alt_text": x(2001)}, []string{"must be less than 2001 characters [json-pointer:/blocks/0/alt_text]"}},
		{"a long address", object{"type": "image", "image_url": "https://a.example/" + x(2983), "alt_text": "b"}, []string{"must be less than 3001 characters [json-pointer:/blocks/0/image_url]"}},
		{"a title in markup", object{"type": "image", "image_url": "https://a.example/", "alt_text": "b", "title": mrkdwn("t")}, []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/title]", "unsupported type: mrkdwn [json-pointer:/blocks/0/title/type]"}},
		{"another's file", object{"type": "image", "slack_file": object{"name": "a"}, "alt_text": "b"}, []string{"invalid additional property: name [json-pointer:/blocks/0/slack_file]"}},
		{"a picture of nothing in a context", object{"type": "context", "elements": []any{object{"type": "image", "alt_text": "b"}}}, []string{
			"must define either `image_url` or `slack_file` [json-pointer:/blocks/0/elements/0]"}},
		{"plain text with markup's flag", section(object{"type": "plain_text", "text": "x", "verbatim": true}), []string{
			"failed to match all allowed schemas [json-pointer:/blocks/0/text]", "invalid additional property: verbatim [json-pointer:/blocks/0/text]"}},
		{"unknown", object{"type": "sections"}, []string{"unsupported type: sections [json-pointer:/blocks/0/type]"}},
		{"no type", object{}, []string{"missing required field: type [json-pointer:/blocks/0]"}},
		{"a long id", object{"type": "divider", "block_id": x(256)}, []string{"must be less than 256 characters [json-pointer:/blocks/0/block_id]"}},
	}
	for _, tt := range tests {
		wrong, ok := CheckBlocks(encode(t, []any{tt.block}))
		if !ok || !slices.Equal(wrong, tt.wrong) {
			t.Errorf("%s: %q, want %q", tt.name, wrong, tt.wrong)
		}
	}
}

func TestListsOfBlocks(t *testing.T) {
	divider := object{"type": "divider"}
	if wrong, ok := CheckBlocks(encode(t, times(50, divider))); !ok || wrong != nil {
		t.Errorf("50 blocks: %q", wrong)
	}
	if wrong, _ := CheckBlocks(encode(t, times(51, divider))); !slices.Equal(wrong, []string{"no more than 50 items allowed [json-pointer:/blocks]"}) {
		t.Errorf("51 blocks: %q", wrong)
	}
	twice := object{"type": "divider", "block_id": "a"}
	if wrong, _ := CheckBlocks(encode(t, times(2, twice))); len(wrong) != 1 || !strings.Contains(wrong[0], "already exists") {
		t.Errorf("one id twice: %q", wrong)
	}
	if wrong, _ := CheckBlocks([]byte(`["divider"]`)); !slices.Equal(wrong, []string{"must provide an object [json-pointer:/blocks/0]"}) {
		t.Errorf("a word for a block: %q", wrong)
	}
	for _, bad := range []string{"", "null", "{}", "[", `"x"`, `[] []`} {
		if _, ok := CheckBlocks([]byte(bad)); ok {
			t.Errorf("%q is a list of blocks", bad)
		}
	}
}

// TestNoPropertyOfNobodys: each block and element knows its own alone.
func TestNoPropertyOfNobodys(t *testing.T) {
	tests := []struct {
		at    string
		block object
	}{
		{"/blocks/0", object{"type": "header", "text": plain("x"), "colour": "red"}},
		{"/blocks/0", object{"type": "context", "elements": []any{mrkdwn("x")}, "colour": "red"}},
		{"/blocks/0", object{"type": "divider", "colour": "red"}},
		{"/blocks/0", object{"type": "image", "image_url": "https://a.example/", "alt_text": "b", "colour": "red"}},
		{"/blocks/0/elements/0", object{"type": "context", "elements": []any{object{"type": "image", "image_url": "https://a.example/", "alt_text": "b", "title": plain("x")}}}},
	}
	for _, tt := range tests {
		wrong, ok := CheckBlocks(encode(t, []any{tt.block}))
		if !ok || len(wrong) != 1 || !strings.HasPrefix(wrong[0], "invalid additional property: ") || !strings.HasSuffix(wrong[0], ":"+tt.at+"]") {
			t.Errorf("%v: %q", tt.block, wrong)
		}
	}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// FuzzCheckBlocks: whatever is sent, the check ends with an answer.
func FuzzCheckBlocks(f *testing.F) {
	for _, seed := range []string{`[]`, `[{"type":"section","fields":[1]}]`, `[{"type":"image","slack_file":{"id":1}}]`, `[{"type":"context","elements":{}}]`, `[{"block_id":3}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, blocks []byte) {
		wrong, ok := CheckBlocks(blocks)
		if !ok && len(wrong) > 0 {
			t.Errorf("%q is no list, and has faults: %q", blocks, wrong)
		}
		for _, w := range wrong {
			if !strings.Contains(w, "[json-pointer:/blocks") {
				t.Errorf("%q says no place", w)
			}
		}
	})
}
