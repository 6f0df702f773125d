package slackstory

import (
	"strings"
	"testing"
	"testing/synctest"

	"perch.example/internal/slackfake"
)

// TestScenes: each story ends with what its picture is to show. That every
// message keeps Slack's rules the fake has seen to; here it is asked once more of
// each version.
func TestScenes(t *testing.T) {
	wants := map[string][]string{ // the titles in the channel, "> " before a reply
		"firing":   {"FIRING stock-api"},
		"sharper":  {"FIRING stock-api", "> CHANGED stock-api"},
		"reminder": {"STILL FIRING stock-api", "> STILL FIRING stock-api"},
		"resolved": {"RESOLVED stock-api", "> RESOLVED stock-api"},
		"flapping": {"FLAPPING stock-api"},
		"group":    {"FIRING 4 targets"},
		"webhook":  {"FIRING stock-api"},
		"repeat":   {"FIRING orders"},
		"backlog":  {"BACKLOG: 2 incidents", "STILL FIRING stock-api"},
		"digest":   {"DIGEST of 2026-03-02"},
		"test":     {"TEST from perch shop"},
	}
	synctest.Test(t, func(t *testing.T) {
		scenes, err := Scenes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes {
			want := wants[s.Name]
			delete(wants, s.Name)
			for i, m := range s.Messages {
				title := m.Title()
				if m.Thread != "" {
					title = "> " + title
				}
				if i >= len(want) || !strings.HasPrefix(title, want[i]) {
					t.Errorf("%s: message %d is %q, want %q", s.Name, i, title, want)
				}
				for _, v := range append(m.Edits, slackfake.Version{Text: m.Text, Blocks: m.Blocks}) {
					if wrong, ok := slackfake.CheckBlocks(v.Blocks); !ok || len(wrong) > 0 {
						t.Errorf("%s: message %d: %q", s.Name, i, wrong)
					}
				}
			}
			if len(s.Messages) != len(want) || s.Caption == "" {
				t.Errorf("%s: %d messages, want %d, with a caption", s.Name, len(s.Messages), len(want))
			}
		}
		if len(wants) > 0 {
			t.Errorf("nobody tells %v", wants)
		}
	})
}
