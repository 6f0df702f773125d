package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestReuseDocsLead: links, pictures and anchors of the documents exist, and each
// source is used.
func TestReuseDocsLead(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{reuseDoc, incidentDoc} {
		text := read(t, doc)
		links := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`).FindAllStringSubmatch(text, -1)
		if len(links) < 5 {
			t.Errorf("%s: only %d links", doc, len(links))
		}
		for _, m := range links {
			file := doc
			if m[1] != "" {
				file = filepath.Join(filepath.Dir(doc), m[1])
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
				continue
			}
			if m[2] != "" && !slices.Contains(anchors(read(t, file)), m[2]) {
				t.Errorf("%s links to %s%s, which has no such heading", doc, m[1], m[2])
			}
		}
	}
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

// anchors are those of the headings, as GitHub makes them.
func anchors(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		kept := regexp.MustCompile("[^a-z0-9 _-]").ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, "#"+strings.ReplaceAll(kept, " ", "-"))
	}
	return all
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
