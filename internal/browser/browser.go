//go:build peers

// Package browser shows the pages that perch makes to a real browser: Chromium
// without a window. It takes pictures of them, prints them, asks them things, and
// notes what a page must not do: load anything from elsewhere, or raise an error.
package browser

import (
	"context"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds whatever a page is asked, on a machine that has other things to do.
const patience = time.Minute

// View is how a page is looked at.
type View struct {
	Width, Height int64 // in CSS pixels
	Dark          bool  // the reader prefers dark colours
}

// Phone and Desktop are the two views of the pictures in docs/screenshots.
func Phone(dark bool) View { return View{Width: 390, Height: 844, Dark: dark} }

// Desktop is described at Phone.
func Desktop(dark bool) View { return View{Width: 1280, Height: 800, Dark: dark} }

// Page is a page in a tab of its own. It is closed when the test ends.
type Page struct {
	t   testing.TB
	ctx context.Context
	own string // the host that it may ask for more

	mu      sync.Mutex
	trouble []string
}

// Open loads the address, http or file, in a browser of the test's own.
func Open(t testing.TB, address string, v View) *Page {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"))
	// A parent of its own: the browser has to end in the clean-up, not before it.
	all, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(all)
	p := &Page{t: t, ctx: ctx, own: u.Host}
	t.Cleanup(func() { end(); endAll() })
	if err := chromedp.Listen(ctx, p.note); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	p.do(
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			if _, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{}); err != nil {
				return err
			}
			_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
			return err
		}),
		p.seen(v), chromedp.Navigate(address),
	)
	return p
}

// seen makes the tab look as the view says.
func (p *Page) seen(v View) chromedp.Action[chromedp.Void] {
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	colours := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
	if v.Width < 600 {
		return chromedp.Steps(chromedp.EmulateViewport(v.Width, v.Height, chromedp.EmulateMobile, chromedp.EmulateScale(2)), colours)
	}
	return chromedp.Steps(chromedp.EmulateViewport(v.Width, v.Height), colours)
}

// note keeps what a page must not do.
func (p *Page) note(event any) {
	said := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		said = "an exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		said = "the console: " + string(e.Type)
	case *log.EventEntryAdded:
		said = "the log: " + e.Entry.Text
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && (u.Scheme == "data" || u.Host == p.own) {
			return
		}
		said = "it asked for " + e.Request.URL
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = append(p.trouble, said)
}

// Trouble is what the page did until now that it must not: errors, messages, and
// requests to other hosts. Empty: nothing.
func (p *Page) Trouble() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.trouble)
}

func (p *Page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ask(p, chromedp.Steps(steps...))
}

// ask runs an action within the page's patience.
func ask[T any](p *Page, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatalf("asking Chromium: %v", err)
	}
	return v
}

// Tells runs JavaScript in the page, and returns what it comes to. The page's own
// policy does not hold for it.
func Tells[T any](p *Page, script string) T {
	p.t.Helper()
	return ask(p, chromedp.Evaluate[T](script))
}

// Do runs further actions on the page, such as key presses.
func (p *Page) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.do(steps...)
}

// Picture is the page from its top, as tall as the view, as PNG.
func (p *Page) Picture() []byte {
	p.t.Helper()
	return ask(p, chromedp.CaptureScreenshot())
}

// Whole is all of the page, as PNG.
func (p *Page) Whole() []byte {
	p.t.Helper()
	return ask(p, chromedp.FullScreenshot(100))
}

// Printed is the page on paper, as PDF, with its backgrounds.
func (p *Page) Printed() []byte {
	p.t.Helper()
	return ask(p, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		yes := true
		r, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: &yes, PaperWidth: 8.27, PaperHeight: 11.69})
		return r.Data, err
	})
}

// Paper shows the page as it is printed, to a reader who prefers dark colours on a screen.
func (p *Page) Paper() {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	}))
}

// Keep writes a picture where the test is to update it, and else checks that there is
// one: fonts differ from machine to machine, so that pixels are not compared.
func Keep(t testing.TB, file string, picture []byte, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(have), "\x89PNG\r\n") {
		t.Errorf("%s: %v; run the test with -update, and look at it", file, err)
	}
}
