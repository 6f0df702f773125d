package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/probes"
)

func TestReadSecret(t *testing.T) {
	vars := map[string]string{"TOKEN": "hunter2", "EMPTY": "", "LINES": "hunter2\nhunter2", "CRLF": "hunter2\r\n", "SPACES": " hunter2 "}
	files := map[string]string{"/token": "hunter2\n", "/empty": "\n", "/long": strings.Repeat("h", maxSecret+1), "/nul": "hunter2\x00", "/two": "hunter2\n\n"}
	read := ReadSecret(
		func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
		})
	for source, want := range map[probes.Source]string{
		{Env: "TOKEN"}: "hunter2", {Env: "CRLF"}: "hunter2", {Env: "SPACES"}: " hunter2 ", {File: "/token"}: "hunter2",
	} {
		got, err := read(source)
		if err != nil || got.Reveal() != want {
			t.Errorf("%s: %q, %v", source, got.Reveal(), err)
		}
	}
	for source, want := range map[probes.Source]string{
		{Env: "NONE"}:                  "reading env NONE: it is not set",
		{Env: "EMPTY"}:                 "reading env EMPTY: it is empty",
		{Env: "LINES"}:                 "reading env LINES: it holds a control character, want one line",
		{File: "/none"}:                "reading file /none: open /none: file does not exist",
		{File: "/empty"}:               "reading file /empty: it is empty",
		{File: "/long"}:                "reading file /long: 65537 bytes, want at most 65536",
		{File: "/nul"}:                 "reading file /nul: it holds a control character, want one line",
		{File: "/two"}:                 "reading file /two: it holds a control character, want one line",
		{}:                             "reading file : the source names nothing, want an environment variable or a file",
		{Env: "TOKEN", File: "/token"}: "reading env TOKEN: the source names nothing, want an environment variable or a file",
	} {
		got, err := read(source)
		if err == nil || err.Error() != want || got.Reveal() != "" {
			t.Errorf("%+v: %v, want %q", source, err, want)
		}
	}
	if _, err := read(probes.Source{File: "/none"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want os.ErrNotExist inside", err)
	}
	vars["TOKEN"] = "rotated"
	if got, err := read(probes.Source{Env: "TOKEN"}); err != nil || got.Reveal() != "rotated" {
		t.Errorf("after a rotation: %q, %v", got.Reveal(), err)
	}
}

// TestNoSecretInMessages puts a secret wherever a config has room for one.
func TestNoSecretInMessages(t *testing.T) {
	const secret = "xoxb-1234-hunter2"
	places := 0
	everyField(table(), nil, func(path []string, f field) {
		for _, val := range []any{secret, "https://u:" + secret + "@h.example", "Bearer " + secret, "/x?token=" + secret, []any{secret}, map[string]any{"name": "X", "value": secret + "\n"}} {
			places++
			c, err := Parse(Options{}, File{"t.yaml", document(path, val)})
			if text := fmt.Sprint(err, c.Warnings); strings.Contains(text, "hunter2") {
				t.Errorf("%s: %s", strings.Join(path, "."), text)
			}
		}
	})
	// YAML's own marks in front of a secret that somebody forgot to quote.
	for _, mark := range strings.Split("* ! & @ % | > ? - # ' \" { [ ` : , ~ << --- !!int !!binary \t", " ") {
		for _, key := range []string{"value", "prefix", "name", "from", "unknown"} {
			text := smallest + "defaults:\n  headers:\n    - name: A\n      " + key + ": " + mark + "hunter2\n"
			c, err := Parse(Options{}, File{"t.yaml", []byte(text)})
			if text := fmt.Sprint(err, c.Warnings); strings.Contains(text, "hunter2") && key != "name" {
				t.Errorf("%s: %shunter2: %s", key, mark, text)
			}
		}
	}
	if places < 500 {
		t.Errorf("%d places tried", places)
	}
}

// What many are going to read holds no literal credential; what may be one is
// still only warned about, for a word may look like a token.
func TestNoCredentials(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		refused     bool
	}{
		{"Authorization", "anything", true},
		{"Cookie", "a=b", true},
		{"X-Api-Key", "k9", true},
		{"X-Forwarded-Token", "Bearer abc", true},
		{"X-Jwt", "eyJhbGciOiJIUzI1NiJ9", true},
		{"X-Session", "a1b2c3d4e5f6a7b8c9", false}, // warned about
		{"session", "blue", false},                 // warned about
		{"X-Queue", "task-list", false},            // warned about
		{"Accept", "text/plain", false},
	} {
		text := "version: 1\ntargets:\n  - name: a\n    url: https://a.example\n    headers:\n      - {name: " + tt.name + ", value: " + tt.value + "}\n    probes: [{name: p, kind: http, path: /}]\n"
		for _, strict := range []bool{false, true} {
			_, err := Parse(Options{NoCredentials: strict}, File{"perch.yaml", []byte(text)})
			if (err != nil) != (strict && tt.refused) {
				t.Errorf("%s: %s, strict %v: %v", tt.name, tt.value, strict, err)
			}
			if err != nil && (strings.Contains(err.Error(), tt.value) || !strings.Contains(err.Error(), "perch.yaml:6: targets[0].headers[0].value: the literal value of")) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}

// A mode that is written is meant: without anybody to be told it is a mute perch.
func TestNotifyNobody(t *testing.T) {
	const targets = "version: 1\nname: shop\nvantage: here\ntargets: [{name: a, url: https://a.example, probes: [{name: p, kind: http, path: /}]}]\n"
	for text, warns := range map[string]bool{
		"":                          false,
		"alerts: {mode: report}\n":  false,
		"alerts: {fire_after: 1}\n": false,
		"alerts: {mode: notify}\n":  true,
		"alerts: {mode: notify}\nalertmanager: {url: http://am.example}\nstate: {file: s}\n": false,
	} {
		cfg, err := Parse(Options{}, File{"perch.yaml", []byte(targets + text)})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(cfg.Warnings, "\n"), "perch.yaml:5: alerts.mode: is notify, and nobody is named to be told; write slack:"); said != warns {
			t.Errorf("%q: %q", text, cfg.Warnings)
		}
	}
}

// A config that is not there says how to name one.
func TestNoConfig(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "perch.yaml"), Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("%v", err)
	}
}
