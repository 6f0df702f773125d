//go:build peers

package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"perch.example/internal/browser"
	"perch.example/lab"
)

const lookedLive = `
version: 1
name: shop
vantage: bench
targets:
  - name: stock-api
    url: ${URL}
    owner: team-stock
    rate_limit: 100/s
    share: 50%
    daily_limit: 200000
    client: {kind: apache-httpclient-4.5, max_idle: none, validate_after: 2s, automatic_retries: none}
    probes:
      - {name: calendar, kind: http, path: "/calendar?days=2", every: 5s}
      - {name: calendar-idle, kind: idle, path: "/calendar?days=2", every: 15s, keep_alive: 5s, holds: [500ms, 1500ms, 2500ms]}
      - {name: long, kind: idle, path: "/calendar?days=2", every: 1h, holds: [50m]}
alerts: {fire_after: 1, settle: none}
state: {file: "${DIR}/state"}
metrics: {listen: "127.0.0.1:0"}
`

// A browser is shown what perch serve finds of a server that closes too early: at once,
// without a script, and with nothing from anywhere else.
func TestStatusPageInABrowser(t *testing.T) {
	server := startLab(t, "incident", lab.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var log logged
	ended := make(chan ran, 1)
	go func() {
		ended <- perchLogging(ctx, &log, nil, "serve", "--config", configFile(t, server.URL(), lookedLive))
	}()
	defer func() {
		stop()
		if r := <-ended; r.code != 0 {
			t.Errorf("perch ended with %d: %s", r.code, log.String())
		}
	}()
	page := browser.Open(t, "http://"+servingAt(t, &log)+"/", browser.Desktop(false))
	text := awaitText(t, page, &log, "Failing", "early_close", "firing", "50 min", "org.apache.http.NoHttpResponseException", "team-stock", "FIN by peer at 1")
	if strings.Contains(text, "days=2") {
		t.Error("a query string is shown")
	}
	if unfolded := page.Unfold(); unfolded < 4 {
		t.Errorf("%d parts can be unfolded", unfolded)
	}
	if bad := browser.Unnamed(page.Tree()); len(bad) > 0 {
		t.Errorf("without a name: %v", bad)
	}
	if faint := page.Faint(); len(faint) > 0 {
		t.Errorf("faint: %q", faint)
	}
	if wide := page.Wide(320); len(wide) > 0 {
		t.Errorf("at 320 px: %q", wide)
	}
	for _, stop := range page.Stops() {
		if !stop.Shown {
			t.Errorf("it is not seen that the focus is at %s", stop.What)
		}
	}
	browser.Tells[chromedp.Void](page, `document.querySelector("select").value = "pass"`)
	page.Do(chromedp.Submit(chromedp.CSS("form")), chromedp.WaitReady(chromedp.CSS(".links a")))
	awaitText(t, page, &log, "No target fits.", "show all")
	if trouble := page.Trouble(); len(trouble) > 0 {
		t.Errorf("the page did what it must not: %q", trouble)
	}
}

// servingAt waits until perch answers, and returns where.
func servingAt(t *testing.T, log *logged) string {
	t.Helper()
	address := regexp.MustCompile(`msg=serving address=(\S+)`)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if found := address.FindStringSubmatch(log.String()); found != nil {
			return found[1]
		}
	}
	t.Fatalf("perch does not serve: %s", log.String())
	return ""
}

// awaitText loads the page until it says all of it.
func awaitText(t *testing.T, page *browser.Page, log *logged, parts ...string) string {
	t.Helper()
	text, missing := "", ""
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		text, missing = browser.Tells[string](page, `document.body.innerText`), ""
		for _, p := range parts {
			if !strings.Contains(text, p) {
				missing = p
			}
		}
		if missing == "" {
			return text
		}
		page.Do(chromedp.Reload())
	}
	t.Fatalf("the page does not say %q:\n%s\n%s", missing, text, log.String())
	return ""
}
