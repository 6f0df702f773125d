package main

import (
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perch.example/probes"
)

const reuseDoc = "../../docs/connection-reuse.md"

// TestReuseGuideRetries: the guide's table says of every failure what the code
// says of it, once.
func TestReuseGuideRetries(t *testing.T) {
	t.Parallel()
	words := map[string]probes.Resend{
		"any method": probes.ResendSafe, "idempotent only": probes.ResendIdempotent,
		"as the answer says": probes.ResendAsTold, "no": probes.ResendNo,
	}
	_, table, _ := strings.Cut(read(t, reuseDoc), "| what the wire showed | send again | why |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	told := map[probes.Reason]probes.Resend{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		resend, known := words[strings.TrimSpace(cells[2])]
		if !known {
			t.Fatalf("the row says neither of %v: %s", words, row)
		}
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
			reason := probes.Reason(m[1])
			if _, twice := told[reason]; twice {
				t.Errorf("%s stands in two rows", reason)
			}
			told[reason] = resend
		}
	}
	for _, r := range probes.Reasons() {
		if told[r] != r.Resend() {
			t.Errorf("%s: the guide says %q, the code %q", r, told[r], r.Resend())
		}
		delete(told, r)
	}
	if len(told) > 0 {
		t.Errorf("the guide names reasons that do not exist: %v", told)
	}
}

// TestReuseSourcesAreUsed: each source is listed, and each that is listed is used.
func TestReuseSourcesAreUsed(t *testing.T) {
	t.Parallel()
	text, sources, _ := strings.Cut(read(t, reuseDoc), "\n## Sources\n")
	used, listed := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`\[(\d+)\]`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(sources, -1) {
		listed[m[1]] = true
		if !used[m[1]] {
			t.Errorf("source %s is not used", m[1])
		}
	}
	for n := range used {
		if !listed[n] {
			t.Errorf("source %s is not listed", n)
		}
	}
}

// TestPicturesCanBeRead: each picture is whole, named for those who cannot see
// it, and has colours for a dark page.
func TestPicturesCanBeRead(t *testing.T) {
	t.Parallel()
	pictures, err := filepath.Glob("../../docs/*.svg")
	if err != nil || len(pictures) < 5 {
		t.Fatalf("%v, %v", pictures, err)
	}
	for _, p := range pictures {
		text := read(t, p)
		d := xml.NewDecoder(strings.NewReader(text))
		for err = nil; err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", p, err)
		}
		want(t, p, text, "<title", "<desc", "prefers-color-scheme: dark", "viewBox")
	}
}
