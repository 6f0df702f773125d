package report

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"perch.example/probes"
)

// evilText is what a server could send to play with a page, or with who reads it.
const evilText = `<script>alert(1)</script>"'><img src=x onerror=alert(1)></style></title>javascript:alert(1) {{.}}` + "\u202egnp.exe\u2066\x00\x1b[2J"

// evilStatus has it in every text.
func evilStatus() Status {
	run := poisoned()
	for i := range run.Outcomes {
		o := &run.Outcomes[i]
		o.Target, o.Probe, o.Message, o.Problem, o.ClosedBy, o.Advice = evilText, evilText, evilText, evilText, evilText, []string{evilText, "`" + evilText}
		o.Client = &probes.ClientOutcome{Kind: evilText, Experiences: evilText, Band: &probes.Band{Open: true}}
		o.Predicted = []probes.Prediction{{Source: evilText, Client: evilText}}
		for h := range o.Hypotheses {
			o.Hypotheses[h].Evidence, o.Hypotheses[h].ID = evilText, probes.HypothesisID(evilText)
		}
		for a := range o.Attempts {
			at := &o.Attempts[a]
			at.Detail, at.Method, at.Proto, at.TraceID, at.Reason, at.Connection = evilText, evilText, evilText, evilText, probes.Reason(evilText), probes.Connection(evilText)
		}
	}
	s := incidentStatus()
	s.Name, s.Vantage, s.Version, s.Role, s.Config, s.Trouble, s.Notices = evilText, evilText, evilText, evilText, evilText, evilText, []string{evilText}
	s.Filter.Target = evilText[:12]
	u := &url.URL{Scheme: "http", Host: evilText, Path: evilText, RawQuery: evilText}
	for _, o := range run.Outcomes {
		s.Targets = append(s.Targets, StatusTarget{Name: evilText, URL: u, Owner: evilText, Runbook: "javascript:alert(1)", Probes: []StatusProbe{{Name: evilText, Kind: probes.Kind(evilText), Outcomes: []probes.Outcome{o}}}})
	}
	s.Incidents = append(s.Incidents, probes.Incident{Name: evilText, Target: evilText, Family: probes.Family(evilText), State: probes.IncidentState(evilText), Said: evilText})
	s.Held = append(s.Held, probes.Event{Target: evilText, Probe: evilText, Close: &probes.Close{How: probes.HowClosed(evilText)}})
	return s
}

// statusPages are all that this package's tests have, the hostile one among them.
func statusPages(t *testing.T) map[string]*html.Node {
	all := map[string]*html.Node{}
	for name, s := range statuses() {
		all[name] = parsedPage(t, statusPage(t, s))
	}
	all["evil"] = parsedPage(t, statusPage(t, evilStatus()))
	all["crowd"] = parsedPage(t, statusPage(t, crowdedStatus(30, 3)))
	return all
}

// Nothing in a page runs, and nothing of it is elsewhere.
func TestStatusHoldsNothingThatRuns(t *testing.T) {
	known := strings.Fields("html head meta title link style body a header div h1 h2 h3 h4 h5 p nav ul ol li main section span dl dt dd article strong table caption thead tbody tr th td svg rect form label input select option button details summary code footer")
	for name, root := range statusPages(t) {
		styles := 0
		for n := range root.Descendants() {
			if n.Type == html.CommentNode {
				t.Errorf("%s: a comment", name)
			}
			if n.Type != html.ElementNode {
				continue
			}
			if !slices.Contains(known, n.Data) {
				t.Errorf("%s: <%s>", name, n.Data)
			}
			if n.Data == "style" {
				styles++
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "srcset" || a.Key == "action" && a.Val != "/" {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
				if a.Key == "href" && !hrefIsOurs(n, a.Val) {
					t.Errorf("%s: <%s href=%q>", name, n.Data, a.Val)
				}
			}
		}
		if styles != 1 {
			t.Errorf("%s: %d style elements", name, styles)
		}
	}
}

// hrefIsOurs: within the page, of this server, or a runbook.
func hrefIsOurs(n *html.Node, href string) bool {
	switch {
	case n.Data == "link":
		return strings.HasPrefix(href, "data:image/svg+xml,")
	case strings.HasPrefix(href, "#"), strings.HasPrefix(href, "?"), href == "/", href == "/metrics":
		return true
	}
	return href == "https://wiki.example/stock-api" && attr(n, "rel") == "noreferrer noopener"
}

func TestStatusTextIsHarmless(t *testing.T) {
	for name, root := range statusPages(t) {
		for n := range root.Descendants() {
			if n.Type == html.TextNode && n.Parent.Data != "style" {
				checkHarmless(t, name, strings.ReplaceAll(n.Data, unbroken, " "))
			}
			for _, a := range n.Attr {
				checkHarmless(t, name, a.Val)
			}
		}
	}
}

// A URL is shown without who asks, and what is asked.
func TestStatusHoldsNoSecret(t *testing.T) {
	page := string(statusPage(t, incidentStatus()))
	if !strings.Contains(page, "https://api.partner.example/v1/calendar<") {
		t.Error("the address is not there")
	}
	for _, secret := range []string{"secret", "user:", "key="} {
		if strings.Contains(page, secret) {
			t.Errorf("it holds %q", secret)
		}
	}
}

// A screen reader finds its way by headings, landmarks, captions and labels.
func TestStatusStructure(t *testing.T) {
	for name, root := range statusPages(t) {
		ids, level := map[string]bool{}, 0
		var wanted []string
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if id := attr(n, "id"); id != "" {
				if ids[id] && name != "evil" { // there all targets have one name
					t.Errorf("%s: id %q twice", name, id)
				}
				ids[id] = true
			}
			for _, ref := range []string{attr(n, "for"), attr(n, "aria-labelledby"), strings.TrimPrefix(attr(n, "href"), "#")} {
				if ref != "" && (n.Data != "a" || strings.HasPrefix(attr(n, "href"), "#")) && n.Data != "link" {
					wanted = append(wanted, ref)
				}
			}
			level = checkStatusElement(t, name, n, level)
		}
		for _, id := range wanted {
			if !ids[id] {
				t.Errorf("%s: nothing has the id %q", name, id)
			}
		}
	}
}

func checkStatusElement(t *testing.T, page string, n *html.Node, level int) int {
	t.Helper()
	switch n.Data {
	case "h1", "h2", "h3", "h4", "h5":
		now := int(n.Data[1] - '0')
		if now > level+1 {
			t.Errorf("%s: <%s> %q follows a heading of level %d", page, n.Data, said(n), level)
		}
		return now
	case "table":
		if c := firstElement(n); c.Data != "caption" || said(c) == "" {
			t.Errorf("%s: a table without caption", page)
		}
	case "th":
		if attr(n, "scope") == "" || said(n) == "" {
			t.Errorf("%s: <th> %q without scope, or without a text", page, said(n))
		}
	case "a", "button", "summary", "label", "option", "caption":
		if said(n) == "" {
			t.Errorf("%s: <%s> without a text", page, n.Data)
		}
	case "details":
		if firstElement(n).Data != "summary" {
			t.Errorf("%s: <details> without summary", page)
		}
	case "svg":
		if attr(n, "aria-hidden") != "true" {
			t.Errorf("%s: a drawing that is read out", page)
		}
	}
	return level
}

// firstElement is a node's first child that is no text; one without a name where there
// is none.
func firstElement(n *html.Node) *html.Node {
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return &html.Node{}
}
