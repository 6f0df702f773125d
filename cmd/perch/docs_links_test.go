package main

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// headings are the headings of a page, as GitHub names them.
func headings(page string) map[string]bool {
	found, times := map[string]bool{}, map[string]int{}
	page = regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(page, "")
	for _, m := range regexp.MustCompile(`(?m)^#+ +(.+?) *$`).FindAllStringSubmatch(page, -1) {
		heading := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		name := regexp.MustCompile(`[^\p{L}\p{N}\-_ ]`).ReplaceAllString(strings.ToLower(heading), "")
		name = strings.ReplaceAll(name, " ", "-")
		if n := times[name]; n > 0 {
			found[fmt.Sprintf("%s-%d", name, n)] = true
		} else {
			found[name] = true
		}
		times[name]++
	}
	return found
}

// pageHeadings are those of pages that were read, by their path.
type pageHeadings map[string]map[string]bool

// deadLink says why a page's link leads nowhere; empty: it leads somewhere, or out
// of the repository.
func (seen pageHeadings) deadLink(page, link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" {
		return ""
	}
	to := page
	if u.Path != "" {
		to = path.Join(path.Dir(page), u.Path)
	}
	info, err := os.Stat("../../" + to)
	if err != nil {
		return err.Error()
	}
	if u.Fragment == "" || info.IsDir() {
		return ""
	}
	if seen[to] == nil {
		text, err := os.ReadFile("../../" + to)
		if err != nil {
			return err.Error()
		}
		seen[to] = headings(string(text))
	}
	if !seen[to][u.Fragment] {
		return to + " has no heading of that name"
	}
	return ""
}

// TestLinksOfThePages: each link of a page leads to a file, and to a heading where
// it names one.
func TestLinksOfThePages(t *testing.T) {
	t.Parallel()
	count, seen := 0, pageHeadings{}
	for _, page := range docPages(t) {
		prose := regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`").ReplaceAllString(read(t, "../../"+page), "")
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(prose, -1) {
			count++
			if why := seen.deadLink(page, m[1]); why != "" {
				t.Errorf("%s links to %s: %s", page, m[1], why)
			}
		}
	}
	if count < 200 {
		t.Errorf("%d links found", count)
	}
}

// TestDeadLinksAreFound, or the test above would prove nothing.
func TestDeadLinksAreFound(t *testing.T) {
	t.Parallel()
	for link, dead := range map[string]bool{
		"docs/state.md": false, "docs/state.md#where": false, "docs": false, "https://example.com/x": false, "#try-it": false,
		"docs/nosuch.md": true, "docs/state.md#nosuch": true, "#nosuch": true, "state.md": true,
	} {
		if why := (pageHeadings{}).deadLink("README.md", link); (why != "") != dead {
			t.Errorf("%s: %q", link, why)
		}
	}
	if got := headings("# A, `b` & [c](d)!\n## Twice\n## Twice\n"); !got["a-b--c"] || !got["twice"] || !got["twice-1"] || len(got) != 3 {
		t.Errorf("%v", got)
	}
}
