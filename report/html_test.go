package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"perch.example/probes"
)

func htmlText(t testing.TB, run probes.Run, notices ...string) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, run, notices...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// htmlRuns are all fixtures, with those that only a page has.
func htmlRuns() map[string]probes.Run {
	all := runs()
	all["story"], all["idle"], all["idle_silent"], all["idle_survived"] = storyRun(), search(), silentSearch(), survivedSearch()
	all["poisoned"], all["none"] = poisoned(), probes.Run{}
	return all
}

func parsedPage(t testing.TB, page []byte) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// nodes are all elements of a page.
func nodes(t testing.TB, page string) []*html.Node {
	t.Helper()
	var out []*html.Node
	for n := range parsedPage(t, []byte(page)).Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// said is a node's text, as a reader reads it.
func said(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return oneLine(b.String())
}

// TestHTMLHoldsAllOfItself: no script, nothing from elsewhere, no style but the one that
// its policy names.
func TestHTMLHoldsAllOfItself(t *testing.T) {
	for name, run := range htmlRuns() {
		page := htmlText(t, run, evilText, "\n")
		checkHarmless(t, name, strings.ReplaceAll(page, unbroken, " "))
		hash := ""
		for _, n := range nodes(t, page) {
			if slices.Contains([]string{"script", "link", "img", "image", "iframe", "object", "embed", "form", "use", "base"}, n.Data) {
				t.Errorf("%s: there is a <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				at := a.Key == "href" && n.Data == "a" && (strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "https://wiki.example/"))
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" && !at {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "style" {
				sum := sha256.Sum256([]byte(n.FirstChild.Data))
				hash = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
		}
		for _, n := range nodes(t, page) {
			if attr(n, "http-equiv") == "Content-Security-Policy" && attr(n, "content") != "default-src 'none'; style-src "+hash+"; base-uri 'none'; form-action 'none'" {
				t.Errorf("%s: its policy is %q, and its style is %s", name, attr(n, "content"), hash)
			}
		}
	}
}

// TestHTMLCanBeHeard: what a screen reader goes by is there.
func TestHTMLCanBeHeard(t *testing.T) {
	for name, run := range htmlRuns() {
		ids, targets := map[string]int{}, []string{}
		level := 0
		for _, n := range nodes(t, htmlText(t, run)) {
			if id := attr(n, "id"); id != "" {
				ids[id]++
			}
			if to, ok := strings.CutPrefix(attr(n, "href"), "#"); ok {
				targets = append(targets, to)
			}
			if by := attr(n, "aria-labelledby"); by != "" {
				targets = append(targets, by)
			}
			switch {
			case len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6':
				if is := int(n.Data[1] - '0'); is > level+1 {
					t.Errorf("%s: <%s> %q stands below <h%d>", name, n.Data, said(n), level)
				} else {
					level = is
				}
			case n.Data == "th" && attr(n, "scope") == "":
				t.Errorf("%s: a heading of a table says not what it is of: %q", name, said(n))
			case n.Data == "svg" && attr(n, "class") != "sign" && (attr(n, "role") != "img" || attr(n, "aria-label") == ""):
				t.Errorf("%s: a drawing without words", name)
			case attr(n, "class") == "scroll" && (attr(n, "tabindex") != "0" || attr(n, "aria-label") == ""):
				t.Errorf("%s: a frame that the keyboard cannot scroll", name)
			}
		}
		for _, id := range targets {
			if ids[id] != 1 {
				t.Errorf("%s: %q is there %d times", name, id, ids[id])
			}
		}
	}
}

// TestHTMLSaysWhatTheTextSays, of every finding and of the run.
func TestHTMLSaysWhatTheTextSays(t *testing.T) {
	for name, run := range htmlRuns() {
		if name == "poisoned" {
			continue // it is spelled out, and cut
		}
		root, err := html.Parse(strings.NewReader(htmlText(t, run)))
		if err != nil {
			t.Fatal(err)
		}
		page := said(root)
		has := func(texts ...string) {
			t.Helper()
			for _, text := range texts {
				var laid strings.Builder
				for _, p := range prose(text) {
					laid.WriteString(p.Text)
				}
				if text = oneLine(laid.String()); !strings.Contains(page, text) {
					t.Errorf("%s: the page does not say %q", name, text)
				}
			}
		}
		_, headline, _ := strings.Cut(Headline(run), ": ")
		has(headline, run.RunID, run.CutShort, run.Vantage, fmt.Sprint(run.Seed))
		for _, v := range targets(run) {
			for _, f := range findings(v) {
				has(title(f.lead()), f.where())
				has(slices.Concat(f.application(), f.messages(), f.details(), f.advice(), f.accepted())...)
				if a := deciding(f.lead()); a != nil && !a.OK() {
					has(wire(a), a.TraceID)
				}
				for _, h := range f.lead().Hypotheses {
					if !allOpen(f.lead().Hypotheses) {
						has(h.ID.Words(), h.Evidence)
					}
				}
			}
		}
		for _, p := range run.Problems {
			has(p.Text)
		}
		for _, i := range run.Incidents {
			has(i.Said)
		}
		has(run.Notices...)
		has(run.NotDue...)
		for _, c := range run.Clients {
			has(c.Kind, c.Safe)
		}
	}
}

func TestHTMLShowsTheMessages(t *testing.T) {
	for _, n := range nodes(t, htmlText(t, incident(), "FIRING\n\n`code`  here\n", "")) {
		if n.Data == "pre" {
			if got := n.FirstChild.Data; got != "FIRING\n"+unbroken+"\n`code`  here" {
				t.Errorf("got %q", got)
			}
			return
		}
	}
	t.Error("there is no message")
}

// TestHTMLStaysSmall: 200 targets, each with a ladder that fails and a burst of 1,000
// calls.
func TestHTMLStaysSmall(t *testing.T) {
	run := baseRun(time.Minute)
	for n := range 200 {
		name := fmt.Sprintf("target-%03d", n)
		for _, o := range incident().Outcomes {
			o.Target = name
			run.Outcomes = append(run.Outcomes, o)
		}
		o := burstOf(1000/10, 10)
		o.Target = name
		run.Outcomes = append(run.Outcomes, o)
		run.Budget = append(run.Budget, probes.BudgetUse{Target: name, Requests: 1009})
		run.Incidents = append(run.Incidents, probes.Incident{Name: name, Said: name + " is firing"})
		run.Idle = append(run.Idle, probes.IdleResult{Target: name, Probe: "calendar-idle", Measured: time.Second, How: probes.HowFIN})
	}
	page := htmlText(t, run)
	const most = 5 << 20
	if len(page) > most {
		t.Errorf("%d bytes, want at most %d", len(page), most)
	}
	for _, want := range []string{"target-000", "target-199", "and 360 more below", "are not shown here"} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

func TestHTMLPutsTheWorstFirst(t *testing.T) {
	run := storyRun()
	slices.Reverse(run.Outcomes)
	var order []string
	for _, n := range nodes(t, htmlText(t, run)) {
		if n.Data == "h2" && attr(n, "id") != "" {
			order = append(order, said(n))
		}
	}
	want := []string{"pay-api fail", "price-api fail", "stock-api fail"}
	if !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	var folded, open []string
	for _, n := range nodes(t, htmlText(t, mixed())) {
		if n.Data != "details" || !strings.Contains(attr(n, "class"), "probe") {
			continue
		}
		if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "open" }) {
			open = append(open, attr(n, "class"))
		} else {
			folded = append(folded, attr(n, "class"))
		}
	}
	for _, class := range open {
		if strings.HasSuffix(class, " pass") {
			t.Error("a pass is open")
		}
	}
	for _, class := range folded {
		if !strings.HasSuffix(class, " pass") && !strings.HasSuffix(class, " skipped") {
			t.Errorf("%s is folded", class)
		}
	}
	if len(open) == 0 {
		t.Error("nothing is open")
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("stock-api", "closed `code", int64(time.Second), int64(2*time.Second), true)
	f.Add(evilText, evilText, int64(-5), int64(0), false)
	f.Add(hostile(), "</style><script>", int64(1)<<62, int64(1), true)
	f.Fuzz(func(t *testing.T, name, words string, a, b int64, search bool) {
		run := incident()
		run.Outcomes = append(run.Outcomes, burstOf(6, 2))
		for i := range run.Outcomes {
			o := &run.Outcomes[i]
			o.Target, o.Message, o.Hold, o.Search, o.KeepAlive = name, words, time.Duration(a), search, time.Duration(b)
			o.Advice = []string{words}
			if o.Close != nil {
				o.Close.Age = time.Duration(b)
			}
			o.Client = &probes.ClientOutcome{Kind: words, Band: &probes.Band{From: time.Duration(b), To: time.Duration(a)}}
			for j := range o.Attempts {
				o.Attempts[j].IdleTime, o.Attempts[j].Elapsed, o.Attempts[j].Detail = time.Duration(b), time.Duration(a), words
			}
			if o.Burst != nil {
				for j := range o.Burst.Calls {
					o.Burst.Calls[j].Attempt = int(a)
				}
			}
		}
		page := htmlText(t, run, words)
		checkHarmless(t, "the page", strings.ReplaceAll(page, unbroken, " "))
		for _, n := range nodes(t, page) {
			if n.Data == "script" || n.Data == "img" || attr(n, "style") != "" {
				t.Fatalf("there is a <%s>", n.Data)
			}
		}
	})
}
