package slackpicture

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/diagnose/clients"
	"perch.example/internal/slackstory"
)

func readPage(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// samples are the page's fenced blocks of one language.
func samples(t *testing.T, language string) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```").FindAllStringSubmatch(readPage(t), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Fatalf("the page has no %s", language)
	}
	return all
}

// TestThePagesConfigsLoad: each sample beside the rest of a config.
func TestThePagesConfigsLoad(t *testing.T) {
	const rest = `
version: 1
name: shop
vantage: prod-tokyo
state: {file: /var/lib/perch/state}
targets:
  - name: stock-api
    url: https://api.partner.example/v1
    probes: [{name: calendar, kind: http, path: /calendar}]
`
	for _, sample := range samples(t, "yaml") {
		if strings.Contains(sample, "channel:") && !strings.Contains(sample, "slack:") {
			sample += "\nslack: {bot_token: {from: {env: SLACK_BOT_TOKEN}}, channel: \"#alerts\"}\n"
		}
		files := []config.File{{Name: "rest.yaml", Data: []byte(rest)}, {Name: "sample.yaml", Data: []byte(sample)}}
		o := config.Options{ClientKinds: clients.Kinds(), ClientWrappers: clients.Wrappers(), Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
		if _, err := config.Parse(o, files...); err != nil {
			t.Errorf("%v\n%s", err, sample)
		}
	}
}

// TestThePagesDocument: the sample has no key that is not sent.
func TestThePagesDocument(t *testing.T) {
	for _, sample := range samples(t, "json") {
		decoder := json.NewDecoder(strings.NewReader(sample))
		decoder.DisallowUnknownFields()
		var d alert.Document
		if err := decoder.Decode(&d); err != nil || d.Version != alert.DocumentVersion {
			t.Errorf("version %d: %v", d.Version, err)
		}
	}
}

// TestThePageShowsAllPictures, and no other.
func TestThePageShowsAllPictures(t *testing.T) {
	page := readPage(t)
	synctest.Test(t, func(t *testing.T) {
		scenes, err := slackstory.Scenes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes {
			if !strings.Contains(page, "](alerts/"+s.Name+".svg)") {
				t.Errorf("the page does not show %q", s.Name)
			}
		}
		if n := strings.Count(page, "](alerts/"); n != len(scenes) {
			t.Errorf("the page shows %d pictures, want %d", n, len(scenes))
		}
	})
}

// TestThePagesWordsOfSlack: each word in its table is one that perch knows.
func TestThePagesWordsOfSlack(t *testing.T) {
	sources, err := filepath.Glob("../../alert/slack_*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code bytes.Buffer
	for _, path := range sources {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(content)
	}
	_, table, found := strings.Cut(readPage(t), "| it says | do |")
	if !found {
		t.Fatal("the page has no table of words")
	}
	words := 0
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "|") && words > 0 {
			break
		}
		said, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(said, -1) {
			words++
			if !strings.Contains(code.String(), `"`+m[1]+`"`) {
				t.Errorf("perch does not know the word %q", m[1])
			}
		}
	}
	if words < 15 {
		t.Errorf("%d words in the table", words)
	}
}
