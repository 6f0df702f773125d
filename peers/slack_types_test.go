//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"perch.example/internal/slackfake"
	"perch.example/internal/slackstory"
)

// slackTypes is where .ci/run puts Slack's types and TypeScript's compiler.
func slackTypes(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "perch", "slack-types", "node_modules")
	for _, want := range []string{".bin/tsc", "@slack/types/package.json"} {
		if _, err := os.Stat(filepath.Join(modules, filepath.FromSlash(want))); err != nil {
			t.Fatalf("%v: .ci/run installs it, in the step that installs Slack's types", err)
		}
	}
	return modules
}

// message is one list of blocks, and where it comes from.
type message struct {
	name   string
	blocks json.RawMessage
}

// slackMessages are all kinds of messages: those of the stories, with what they
// were before they were edited, and those that alert keeps as golden files.
func slackMessages(t *testing.T) []message {
	t.Helper()
	var all []message
	synctest.Test(t, func(t *testing.T) {
		scenes, err := slackstory.Scenes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes {
			for i, m := range s.Messages {
				for v, version := range append(m.Edits, slackfake.Version{Blocks: m.Blocks}) {
					all = append(all, message{fmt.Sprintf("%s, message %d, version %d", s.Name, i, v), version.Blocks})
				}
			}
		}
	})
	golden, err := filepath.Glob("../alert/testdata/*.json")
	if err != nil || len(golden) < 3 {
		t.Fatalf("alert's golden files: %v, %v", golden, err)
	}
	for _, path := range golden {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var list []struct{ Type string }
		if json.Unmarshal(content, &list) != nil || len(list) == 0 || list[0].Type != "header" {
			continue // another destination's document
		}
		all = append(all, message{filepath.Base(path), content})
	}
	return all
}

// typeCheck declares each message as a list of Slack's blocks, a line each, and
// returns what the compiler says of each line; "" is nothing.
func typeCheck(t *testing.T, messages []message) []string {
	t.Helper()
	modules, dir := slackTypes(t), t.TempDir()
	var program bytes.Buffer
	program.WriteString("import type { KnownBlock } from \"@slack/types\";\n")
	for i, m := range messages {
		var line bytes.Buffer
		if err := json.Compact(&line, m.blocks); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		fmt.Fprintf(&program, "export const m%d: KnownBlock[] = %s;\n", i, &line)
	}
	options, err := json.Marshal(map[string]any{
		"files": []string{"messages.ts"},
		"compilerOptions": map[string]any{
			"noEmit": true, "strict": true, "skipLibCheck": true, "module": "esnext", "moduleResolution": "bundler",
			"target": "es2022", "types": []string{}, "paths": map[string][]string{"@slack/types": {filepath.Join(modules, "@slack", "types")}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"messages.ts": program.Bytes(), "tsconfig.json": options} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said, err := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "tsc"), "--pretty", "false", "-p", dir).CombinedOutput()
	wrong := make([]string, len(messages))
	for line := range strings.Lines(string(said)) {
		var row, column int
		_, place, _ := strings.Cut(line, "messages.ts(")
		if n, _ := fmt.Sscanf(place, "%d,%d)", &row, &column); n == 2 && row >= 2 && row < len(messages)+2 {
			wrong[row-2] += line
			continue
		}
		if !strings.HasPrefix(line, " ") && strings.TrimSpace(line) != "" { // an indented line explains the one before
			t.Fatalf("the compiler: %s", said)
		}
	}
	if err != nil && !slices.ContainsFunc(wrong, func(s string) bool { return s != "" }) {
		t.Fatalf("the compiler: %v: %s", err, said)
	}
	return wrong
}

// TestMessagesAreSlackBlocks: Slack's own types accept every kind of message,
// and the fake's rules, which know lengths, too.
func TestMessagesAreSlackBlocks(t *testing.T) {
	messages := slackMessages(t)
	for i, said := range typeCheck(t, messages) {
		if said != "" {
			t.Errorf("%s: %s", messages[i].name, said)
		}
	}
	for _, m := range messages {
		if wrong, ok := slackfake.CheckBlocks(m.blocks); !ok || len(wrong) > 0 {
			t.Errorf("%s: %q", m.name, wrong)
		}
	}
	t.Logf("%d messages", len(messages))
}

// TestSlackTypesRefuse: a check that accepts all would be worth nothing.
func TestSlackTypesRefuse(t *testing.T) {
	bad := []message{
		{"a header in markup", []byte(`[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`)},
		{"an unknown type", []byte(`[{"type":"headline","text":{"type":"plain_text","text":"x"}}]`)},
		{"a text that is none", []byte(`[{"type":"section","text":"x"}]`)},
		{"a field that is none", []byte(`[{"type":"section","fields":["x"]}]`)},
		{"emoji in markup", []byte(`[{"type":"section","text":{"type":"mrkdwn","text":"x","emoji":true}}]`)},
		{"a context without elements", []byte(`[{"type":"context"}]`)},
		{"one block, no list", []byte(`{"type":"divider"}`)},
		{"a number", []byte(`[{"type":"section","text":{"type":"mrkdwn","text":1}}]`)},
		{"a property of nobody's", []byte(`[{"type":"divider","colour":"red"}]`)},
	}
	for i, said := range typeCheck(t, bad) {
		if said == "" {
			t.Errorf("%s is accepted", bad[i].name)
		}
	}
	good := []message{{"a divider", []byte(`[{"type":"divider"}]`)}}
	if said := typeCheck(t, good); said[0] != "" {
		t.Errorf("a divider is refused: %s", said[0])
	}
}
