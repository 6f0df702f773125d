//go:build peers

package report

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"perch.example/internal/browser"
)

// served is a page as perch serve answers it, and its address.
func servedStatus(t *testing.T, s Status) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", StatusPolicy())
		if err := StatusPage(w, s); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The pictures in docs are of one moment that never changes.
func TestStatusPictures(t *testing.T) {
	address := servedStatus(t, incidentStatus())
	for name, v := range map[string]browser.View{
		"phone-light": browser.Phone(false), "phone-dark": browser.Phone(true), "desktop-light": browser.Desktop(false), "desktop-dark": browser.Desktop(true),
	} {
		p := browser.Open(t, address, v)
		browser.Keep(t, "../docs/screenshots/status-"+name+".png", p.Picture(), updating())
		if trouble := p.Trouble(); len(trouble) > 0 {
			t.Errorf("%s: %q", name, trouble)
		}
	}
}

// Every text is read on what is behind it, in light and in dark, and none of it sticks
// out: at 320 px, at 640 px (which is 1280 px at 200%), and at what phones and desktops have.
func TestStatusIsReadable(t *testing.T) {
	for name, s := range map[string]Status{"incident": incidentStatus(), "well": wellStatus(), "evil": evilStatus()} {
		p := browser.Open(t, servedStatus(t, s), browser.Desktop(false))
		for _, what := range p.Unreadable() {
			t.Errorf("%s: %s", name, what)
		}
	}
}

// The keyboard reaches everything there is to use, in the page's order, and it is
// seen where it is.
func TestStatusByKeyboard(t *testing.T) {
	p := browser.Open(t, servedStatus(t, incidentStatus()), browser.Desktop(false))
	p.Unfold()
	stops := p.Stops()
	usable := browser.Tells[int](p, `document.querySelectorAll("a[href], summary, input:not([type=hidden]), select, button").length`)
	if len(stops) != usable || usable < 15 {
		t.Errorf("the focus came by %d, there are %d: %v", len(stops), usable, stops)
	}
	for _, s := range stops {
		if !s.Shown {
			t.Errorf("it is not seen that the focus is at %s", s.What)
		}
	}
	if stops[0].What != "a Skip to the content" {
		t.Errorf("the first stop is %s", stops[0].What)
	}
	browser.Tells[chromedp.Void](p, `document.querySelector(".skip").focus()`)
	p.Do(chromedp.KeyEvent(kb.Enter))
	if at := browser.Tells[string](p, `document.activeElement.id`); at != "main" {
		t.Errorf("the skip link leads to %q", at)
	}
	browser.Tells[chromedp.Void](p, `document.querySelector("details.target:not(.fail) > summary").focus()`)
	open := func() bool { return browser.Tells[bool](p, `document.activeElement.parentElement.open`) }
	before := open()
	p.Do(chromedp.KeyEvent(kb.Enter))
	if open() == before {
		t.Error("Enter does not fold a target")
	}
}

// A screen reader is told what is what.
func TestStatusToAScreenReader(t *testing.T) {
	for _, width := range []int64{1280, 390} {
		p := browser.Open(t, servedStatus(t, incidentStatus()), browser.View{Width: width, Height: 800})
		p.Unfold()
		tree := p.Tree()
		if bad := browser.Unnamed(tree); len(bad) > 0 {
			t.Errorf("%d px: without a name: %v", width, bad)
		}
		for _, want := range []browser.Node{
			{Role: "main"}, {Role: "banner"}, {Role: "contentinfo"}, {Role: "navigation", Name: "On this page"}, {Role: "search", Name: "Filter targets"},
			{Role: "region", Name: "Overall: Failing"}, {Role: "region", Name: "Incidents 1"}, {Role: "region", Name: "Held now 3"}, {Role: "region", Name: "Targets 4"},
			{Role: "textbox", Name: "Target"}, {Role: "combobox", Name: "Verdict"}, {Role: "columnheader", Name: "While idle"}, {Role: "rowheader", Name: "1.5 s"},
			{Role: "table", Name: "Hypotheses, ruled in or out by what was measured"}, {Role: "heading", Name: "shop"},
		} {
			if !slices.ContainsFunc(tree, func(n browser.Node) bool { return n.Role == want.Role && (want.Name == "" || n.Name == want.Name) }) {
				t.Errorf("%d px: no %s %q", width, want.Role, want.Name)
			}
		}
		tables := 0
		for _, n := range tree {
			if n.Role == "table" && strings.HasPrefix(n.Name, "Connections held idle") {
				tables++
			}
		}
		if tables != 2 {
			t.Errorf("%d px: %d ladders, want 2", width, tables)
		}
	}
}
