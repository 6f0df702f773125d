//go:build peers

package report

import (
	"os"
	"path/filepath"
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
