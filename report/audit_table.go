package report

import (
	"net/http"
	"strings"

	"perch.example/probes"
)

// auditSection is one group of the audit's table.
type auditSection struct {
	ink    ink
	word   string // stands for the group; never colour alone
	title  string
	method string
	in     func(probes.AuditRow) bool
}

const unsafeWord = "UNSAFE"

// auditSections are the groups, the worst first. Each row falls into one.
func auditSections(a probes.Audit) []auditSection {
	const get, post = http.MethodGet, http.MethodPost
	is := func(result probes.AuditResult) func(probes.AuditRow) bool {
		return func(r probes.AuditRow) bool { return r.Result == result }
	}
	return []auditSection{
		{inkBad, "MISSED", "a GET is not sent again, the application gets the error", get, func(r probes.AuditRow) bool { return r.Counts }},
		{inkWarn, "missed answers", "not asked for again; the exit status does not count them", get, func(r probes.AuditRow) bool { return r.Result == probes.AuditMissed && !r.Counts }},
		{inkOdd, "NOT DECLARED", "reaches the retry layer, if there is one", get, func(r probes.AuditRow) bool { return r.Result == probes.AuditUnknown && r.Experiences != "" }},
		{inkGood, "retried", "a GET is sent again", get, is(probes.AuditRetried)},
		{inkGood, "noticed", "before a GET is sent: nothing to see", get, is(probes.AuditNoticed)},
		{inkFaint, "left", "reaches the application; a standard policy need not repeat it", get, is(probes.AuditLeft)},
		{inkFaint, "unknown", "the catalog does not say", get, func(r probes.AuditRow) bool { return r.Result == probes.AuditUnknown && r.Experiences == "" }},
		{inkBad, unsafeWord, "a POST is sent again, though it may have been executed", post, is(probes.AuditUnsafe)},
		{inkGood, "retried", "a POST that cannot have been executed is sent again", post, is(probes.AuditRetried)},
		{inkFaint, "not sent again", postTitle(a), post, func(r probes.AuditRow) bool {
			return r.Result == probes.AuditMissed || r.Result == probes.AuditLeft
		}},
	}
}

func postTitle(a probes.Audit) string {
	if a.Client.Retry == nil {
		return "a POST after these"
	}
	return "a POST reaches the application; that is right unless the API makes it safe to repeat"
}

// auditGroup are the reasons that come out alike.
type auditGroup struct {
	reasons []string
	text    string
}

func (p *page) auditSection(a probes.Audit, s auditSection) {
	var by []string // who sends again: each has a group of its own
	rows := map[string][]probes.AuditRow{}
	for _, r := range a.Rows {
		if r.Method != s.method || !s.in(r) {
			continue
		}
		if rows[r.By] == nil {
			by = append(by, r.By)
		}
		rows[r.By] = append(rows[r.By], r)
	}
	if s.method == http.MethodPost && len(by) > 0 {
		p.auditPosts(a, s, by, rows)
		return
	}
	for _, who := range by {
		p.auditTitle(s, s.title+whoSends(a, who))
		p.auditRows(a, rows[who])
	}
}

func (p *page) auditTitle(s auditSection, title string) {
	p.gap()
	p.hang([]span{plain(margin), {s.ink, s.word}, plain(": ")}, plain(title))
}

// whoSends ends a title with who sends again.
func whoSends(a probes.Audit, who string) string {
	switch who {
	case "":
		return ""
	case a.Name:
		return "; the client itself does that, and no retry list sees it"
	default:
		return "; the list holds " + who
	}
}

// auditPosts writes the reasons alone: what comes out is as with a GET. Beside
// what is unsafe stands the entry that does it, where it is not one for all.
func (p *page) auditPosts(a probes.Audit, s auditSection, by []string, rows map[string][]probes.AuditRow) {
	switch {
	case len(by) == 1:
		p.auditTitle(s, s.title+whoSends(a, by[0]))
	case s.word != unsafeWord:
		p.auditTitle(s, s.title)
	default:
		p.auditTitle(s, s.title+"; beside it the entry of the list")
		for _, who := range by {
			text := who
			if who == a.Name {
				text += " itself, and no retry list sees it"
			}
			p.beside(reasonsOf(rows[who]), text)
		}
		return
	}
	var all []probes.AuditRow
	for _, who := range by {
		all = append(all, rows[who]...)
	}
	p.hang([]span{plain(margin + margin)}, plain(strings.Join(reasonsOf(all), ", ")))
}

func reasonsOf(rows []probes.AuditRow) []string {
	var reasons []string
	for _, r := range rows {
		reasons = append(reasons, string(r.Reason))
	}
	return reasons
}

// auditRows writes what comes out beside the reasons for it, or the reasons
// alone where the catalog does not say.
func (p *page) auditRows(a probes.Audit, rows []probes.AuditRow) {
	if rows[0].Experiences == "" {
		p.hang([]span{plain(margin + margin)}, plain(strings.Join(reasonsOf(rows), ", ")))
		return
	}
	for _, g := range auditGroups(a, rows) {
		p.beside(g.reasons, g.text)
	}
}

// auditGroups joins the reasons that come out alike, in the order of the first
// of them.
func auditGroups(a probes.Audit, rows []probes.AuditRow) []auditGroup {
	var groups []auditGroup
	at := map[string]int{}
	for _, r := range rows {
		text := auditText(a, r)
		i, known := at[text]
		if !known {
			i, at[text] = len(groups), len(groups)
			groups = append(groups, auditGroup{text: text})
		}
		groups[i].reasons = append(groups[i].reasons, string(r.Reason))
	}
	return groups
}

// auditText is what comes out, and what the wrapper makes of it where that is
// not what it makes of everything.
func auditText(a probes.Audit, r probes.AuditRow) string {
	if r.Wrapped == "" || r.Wrapped == usualWrap(a) {
		return r.Experiences
	}
	return r.Experiences + " (" + a.Wrapper + ": " + r.Wrapped[strings.LastIndexByte(r.Wrapped, '.')+1:] + ")"
}

// usualWrap is the class that the wrapper makes of an error; it is said once.
func usualWrap(a probes.Audit) string {
	for _, r := range a.Rows {
		if r.Wrapped != "" && r.Transient && !r.Answer {
			return r.Wrapped
		}
	}
	return ""
}

// beside writes a column of reasons and, beside it, the text.
func (p *page) beside(reasons []string, text string) {
	const column = len("proxy_upstream_reset") + 2
	indent := margin + margin
	lines := wrap(text, max(20, p.style.columns()-len(indent)-column))
	for i := range max(len(lines), len(reasons)) {
		var reason, line string
		if i < len(reasons) {
			reason = reasons[i]
		}
		if i < len(lines) {
			line = lines[i]
		}
		p.line(plain(indent), span{inkStrong, reason}.padded(column), plain(line))
	}
}
