package report

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"perch.example/probes"
)

// Audit writes what `perch audit` found: first whether anything is missed, then
// for each client what it makes of each reason, what its retry list lacks, and
// why. The error is w's.
func Audit(w io.Writer, all probes.Audits, s Style) error {
	p := &page{style: s}
	p.hang(nil, span{inkFaint, strings.Join(filled("perch "+all.Version, "audit", all.Name), " · ")})
	ink, text := auditsHeadline(all)
	p.hang(nil, span{ink, text})
	for _, d := range all.Doubts {
		p.hang([]span{{inkWarn, "DOUBT: "}}, plain(d))
	}
	for _, u := range all.Unjudged {
		p.hang([]span{{inkOdd, "NOT JUDGED: "}}, plain(u))
	}
	for _, a := range all.Audits {
		p.gap()
		p.audit(a, len(all.Audits) > 1)
	}
	if len(all.Undeclared) > 0 {
		p.gap()
		p.hang(nil, plain(fmt.Sprintf("No client is declared for %s: nothing can be said about it. `perch audit --list` names the clients for targets[].client.", listed(all.Undeclared))))
	}
	if len(all.Audits) > 0 {
		p.gap()
		p.hang(nil, span{inkFaint, "docs/audit.md explains the groups, docs/reasons.md the reasons."})
	}
	return p.flush(w)
}

func filled(parts ...string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// auditsHeadline is the whole audit in a sentence.
func auditsHeadline(all probes.Audits) (ink, string) {
	var missed, unknown, partly []string
	for _, a := range all.Audits {
		switch {
		case a.Missed():
			missed = append(missed, a.Targets...)
		case a.Client.Retry == nil:
			unknown = append(unknown, a.Targets...)
		case len(a.Unknown()) > 0:
			partly = append(partly, a.Targets...)
		}
	}
	missed, unknown = once(missed), once(unknown) // with protocol: auto a target is audited twice
	switch {
	case len(all.Audits) == 0 && len(all.Unjudged) > 0:
		return inkOdd, "NOTHING TO AUDIT: the catalog does not know what the declared clients make of these connections"
	case len(all.Audits) == 0:
		return inkOdd, "NOTHING TO AUDIT: no target declares a client"
	case len(all.Audits) == 1:
		return auditHeadline(all.Audits[0])
	case len(missed) > 0:
		return inkBad, fmt.Sprintf("MISSED: the retry lists of %s miss network failures of a GET", listed(missed))
	case len(unknown) > 0:
		return inkOdd, fmt.Sprintf("NOT DECLARED: %s %s no retry policy", listed(unknown), declares(len(unknown)))
	case len(partly) > 0:
		return inkOdd, fmt.Sprintf("NOT ALL IS KNOWN: no retry list misses a network failure of a GET that the catalog knows of, of %s some are not known", listed(once(partly)))
	default:
		return inkGood, "COVERED: no retry list misses a network failure of a GET"
	}
}

// once are names without repetition, in their order.
func once(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func declares(n int) string {
	if n == 1 {
		return "declares"
	}
	return "declare"
}

// auditHeadline is one client's.
func auditHeadline(a probes.Audit) (ink, string) {
	missed, known := 0, 0
	for _, r := range a.Rows {
		if r.Method != http.MethodGet || !r.Transient || r.Answer || r.Experiences == "" {
			continue
		}
		known++
		if r.Counts {
			missed++
		}
	}
	targets := listed(a.Targets)
	switch {
	case a.Client.Retry == nil:
		return inkOdd, fmt.Sprintf("NOT DECLARED: %s %s no retry policy; below is what reaches the application", targets, declares(len(a.Targets)))
	case a.Missed() && missed == known:
		return inkBad, fmt.Sprintf("MISSED: all %s of a GET reach the application of %s", counted(known, "network failure"), targets)
	case a.Missed():
		return inkBad, fmt.Sprintf("MISSED: %d of %s of a GET reach the application of %s", missed, counted(known, "network failure"), targets)
	case len(a.Unknown()) > 0:
		return inkOdd, fmt.Sprintf("NOT ALL IS KNOWN: none of %s of a GET that the catalog knows of reaches the application of %s; what it makes of %d more is not known",
			counted(known, "network failure"), targets, len(a.Unknown()))
	default:
		return inkGood, fmt.Sprintf("COVERED: none of %s of a GET reaches the application of %s, unless every try fails", counted(known, "network failure"), targets)
	}
}

// audit is one client: what is declared, the table, what to add, and why.
func (p *page) audit(a probes.Audit, several bool) {
	if several {
		ink, text := auditHeadline(a)
		p.hang(nil, span{ink, text})
	}
	p.field("Client", plain(auditClient(a)))
	p.field("Retry policy", plain(auditPolicy(a)))
	for _, s := range auditSections(a) {
		p.auditSection(a, s)
	}
	p.toAdd(a)
	for i, n := range a.Notes {
		if i == 0 {
			p.gap()
		}
		p.field(first(i, "Notes"), plain(n))
	}
	for i, d := range a.Doubts {
		p.field(first(i, "Doubts"), span{inkWarn, d})
	}
}

// first is the label of a list's first entry; the others go on below it.
func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func auditClient(a probes.Audit) string {
	text := a.Name
	if a.Client.Kind != a.Name {
		text += " (" + a.Client.Kind + ")"
	}
	if a.Client.HTTP2 {
		text += " over HTTP/2"
	}
	if a.Wrapper != "" {
		text += ", wrapped by " + a.Wrapper
	}
	if class := usualWrap(a); class != "" {
		text += ", which turns each I/O error into " + class
	}
	switch {
	case a.Client.AutomaticRetries != probes.SwitchNone:
	case slices.ContainsFunc(a.Rows, func(r probes.AuditRow) bool { return r.By == a.Name }):
		text += "; its own retries are declared off, but it has them"
	default:
		text += "; its own retries are off"
	}
	return text
}

func auditPolicy(a probes.Audit) string {
	policy := a.Client.Retry
	if policy == nil {
		return "none declared"
	}
	sees := "sees the client's own errors"
	if policy.Layer == probes.LayerAround && a.Wrapper != "" {
		sees = "sees what " + a.Wrapper + " makes of them"
	}
	list := "an empty list"
	if len(policy.Errors) > 0 {
		list = listed(policy.Errors)
	}
	methods := ""
	if len(policy.Methods) > 0 {
		methods = " of " + listed(policy.Methods) + " only"
	}
	return fmt.Sprintf("layer %s (%s), %s%s, for %s", policy.Layer, sees, counted(policy.Attempts, "attempt"), methods, list)
}

// toAdd is what the list lacks, and what is useless in it, ready to paste.
func (p *page) toAdd(a probes.Audit) {
	if len(a.Missing)+len(a.Answers) > 0 {
		p.gap()
		p.hang([]span{plain(margin)}, span{inkStrong, addTitle(a)})
		p.entries(inkBad, a.Missing)
		p.answersToAdd(a.Answers)
	}
	if len(a.Useless) > 0 {
		p.gap()
		p.hang([]span{plain(margin)}, span{inkStrong, "And remove from it, since they cover nothing with `layer: " + string(a.Client.Retry.Layer) + "`:"})
		p.entries(inkWarn, a.Useless)
	}
}

// answersToAdd sets a 408 apart: it was no answer to the request, and by its
// status nobody can tell it from one.
func (p *page) answersToAdd(answers []string) {
	const stray = "408"
	later := slices.DeleteFunc(slices.Clone(answers), func(entry string) bool { return entry == stray })
	if len(later) > 0 {
		p.yamlComment("answers that say \"later\"; wait as Retry-After says:")
		p.entries(inkWarn, later)
	}
	if len(later) < len(answers) {
		p.yamlComment("pushed onto the connection while it was idle, no answer to this request; for a GET only:")
		p.entries(inkWarn, []string{stray})
	}
}

const listIndent = margin + margin

func (p *page) yamlComment(text string) {
	for _, line := range wrap(text, p.style.columns()-len(listIndent)-len("# ")) {
		p.line(plain(listIndent), span{inkFaint, "# " + line})
	}
}

func (p *page) entries(ink ink, entries []string) {
	for _, entry := range entries {
		p.line(plain(listIndent), span{ink, "- " + yamlText(entry)})
	}
}

func addTitle(a probes.Audit) string {
	const indented = "indent as in your file" // as printed it would be no YAML there
	switch {
	case a.Client.Retry == nil && a.Wrapper != "":
		return "A retry list around " + a.Wrapper + " would have to hold (" + indented + "):"
	case a.Client.Retry == nil:
		return "A retry list would have to hold (" + indented + "):"
	case len(a.Missing) == 0:
		return "To ask again after these answers, too, add to the retry list (" + indented + "):"
	default:
		return "Add to the retry list: client.retry.errors, and the application's own (" + indented + "):"
	}
}

// yamlText quotes what YAML would read as something else than text: Go's
// pointers look like its aliases.
func yamlText(entry string) string {
	if strings.Trim(entry, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._$") == "" {
		return entry
	}
	return "\"" + strings.NewReplacer("\\", "\\\\", "\"", "\\\"").Replace(entry) + "\""
}
