//go:build peers

package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perch.example/internal/browser"
	"perch.example/probes"
)

// opened is a run's report as a reader opens it: a file on disk.
func opened(t *testing.T, run probes.Run, v browser.View) *browser.Page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := HTML(f, run, "FIRING stock-api: idle connections are closed too early\n\nSince 23:28, 6 of 8 runs; team-stock"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return browser.Open(t, "file://"+file, v)
}

// TestReportPictures takes the pictures of docs/reports.md, and sees that the page does
// what it says: it asks for nothing and fits its window.
func TestReportPictures(t *testing.T) {
	for name, v := range map[string]browser.View{
		"phone-light": browser.Phone(false), "phone-dark": browser.Phone(true),
		"desktop-light": browser.Desktop(false), "desktop-dark": browser.Desktop(true),
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, storyRun(), v)
			if wide := browser.Tells[int64](p, "document.documentElement.scrollWidth"); wide > v.Width {
				t.Errorf("the page is %d wide, its window %d", wide, v.Width)
			}
			dark := browser.Tells[bool](p, `getComputedStyle(document.body).backgroundColor === "rgb(16, 21, 27)"`)
			if dark != v.Dark {
				t.Errorf("dark: %t, want %t", dark, v.Dark)
			}
			browser.Keep(t, filepath.Join("..", "docs", "screenshots", "report-"+name+".png"), p.Picture(), updating())
			if said := p.Trouble(); len(said) > 0 {
				t.Errorf("the page: %q", said)
			}
		})
	}
}

// Every text is read on what is behind it, in light and in dark, and nothing sticks out:
// not at 320 px either, nor at 200%.
func TestReportIsReadable(t *testing.T) {
	for name, run := range map[string]probes.Run{"story": storyRun(), "idle": search(), "cut short": incomplete(), "poisoned": poisoned()} {
		p := opened(t, run, browser.Desktop(false))
		for _, what := range p.Unreadable() {
			t.Errorf("%s: %s", name, what)
		}
	}
}

// The keyboard reaches everything there is to use, and it is seen where it is.
func TestReportByKeyboard(t *testing.T) {
	p := opened(t, incident(), browser.Desktop(false))
	stops := p.Stops()
	usable := browser.Tells[int](p, `[...document.querySelectorAll("a[href], summary, [tabindex='0']")].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length`)
	if len(stops) != usable || usable < 10 {
		t.Errorf("the focus came by %d, there are %d: %v", len(stops), usable, stops)
	}
	for _, s := range stops {
		if !s.Shown {
			t.Errorf("it is not seen that the focus is at %s", s.What)
		}
	}
	if stops[0].What != "a Skip to what was found" {
		t.Errorf("the first stop is %s", stops[0].What)
	}
}

// A screen reader is told what is what: the drawings by a name and a description.
func TestReportToAScreenReader(t *testing.T) {
	p := opened(t, storyRun(), browser.Phone(false))
	p.Unfold()
	tree := p.Tree()
	if bad := browser.Unnamed(tree); len(bad) > 0 {
		t.Errorf("without a name: %v", bad)
	}
	for _, want := range []browser.Node{
		{Role: "main"}, {Role: "banner"}, {Role: "contentinfo"}, {Role: "navigation", Name: "What is not a pass"}, {Role: "heading", Name: "shop"},
		{Role: "region", Name: "stock-api fail"}, {Role: "image", Name: "The ladder of stock-api/calendar-idle"}, {Role: "image", Name: "Held connection, 1.5 s rung"},
		{Role: "columnheader", Name: "While idle"}, {Role: "rowheader", Name: "1.5 s"}, {Role: "image", Name: "The bursts of pay-api/checkout-burst"},
	} {
		if !slices.ContainsFunc(tree, func(n browser.Node) bool { return n.Role == want.Role && (want.Name == "" || n.Name == want.Name) }) {
			t.Errorf("there is no %s %q", want.Role, want.Name)
		}
	}
}

// On paper all is unfolded, nothing is dark, and the pages are not too many.
func TestReportOnPaper(t *testing.T) {
	p := opened(t, storyRun(), browser.Desktop(true))
	p.Paper()
	dark := browser.Tells[[]string](p, `[...document.body.querySelectorAll("*")].filter(e => {
		const c = getComputedStyle(e).backgroundColor.match(/[\d.]+/g).map(Number);
		return (c.length < 4 || c[3] > 0) && c[0] + c[1] + c[2] < 600 && !e.matches(".mark, .key");
	}).map(e => e.tagName + "." + e.className)`)
	if body := browser.Tells[string](p, `getComputedStyle(document.body).backgroundColor`); len(dark) > 0 || body != "rgb(255, 255, 255)" {
		t.Errorf("the page is %s, and dark are %q", body, dark)
	}
	folded := browser.Tells[[]string](p, `[...document.querySelectorAll("details:not(.many) > *:not(summary)")].filter(e => e.getBoundingClientRect().height === 0 && e.childElementCount > 0).map(e => e.className)`)
	if len(folded) > 0 {
		t.Errorf("folded on paper: %q", folded)
	}
	for _, f := range p.Faint() {
		t.Errorf("faint on paper: %s", f)
	}
	paper := string(p.Printed())
	if !strings.HasPrefix(paper, "%PDF-") || len(paper) < 100_000 {
		t.Errorf("printed are %d bytes", len(paper))
	}
	if pages := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAllString(paper, -1)); pages < 5 || pages > 40 {
		t.Errorf("%d pages", pages)
	}
}
