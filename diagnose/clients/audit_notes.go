package clients

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"perch.example/probes"
)

// auditNotes say what the rows alone do not: why the other layer fares
// differently, where the client helps or hides, and what the missing entries
// would do to a POST. Each is one or two sentences, the most telling first.
func auditNotes(decl probes.Client, a probes.Audit) []string {
	var notes []string
	for _, note := range []string{
		policyNote(decl, a), postNote(decl, a), layerNote(decl, a), ownRetriesNote(decl, a), looksNote(decl, a),
		coveredTooNote(decl, a), oneStatusNote(decl), uselessRetryNote(a), blindNote(a), strangersNote(decl),
	} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

func policyNote(decl probes.Client, a probes.Audit) string {
	switch {
	case decl.Retry == nil:
		return "No retry policy is declared, so that nothing is known of what is sent again, and nothing counts as missed. If the application has a retry layer, declare it as client.retry; if it has none, declare `retry: {layer: inside, attempts: 1, errors: []}`, and all that reaches it counts."
	case decl.Retry.Attempts == 1:
		return "`attempts: 1` is the first try alone: nothing is sent again, whatever the list holds. It has to be 2 or more."
	case !decl.Retry.Repeats(http.MethodGet):
		return "`methods` does not hold GET: none is sent again, whatever the list of errors holds. A GET may always be."
	case decl.Retry.Layer == probes.LayerAround && a.Wrapper == "" && wrappable(decl.Kind):
		return "`layer: around` means nothing without wrapped_by: judged is a layer that sees the errors of " + a.Name + " themselves. If RestTemplate, RestClient or Feign stands around it, declare that."
	}
	return ""
}

func wrappable(kind string) bool {
	return slices.ContainsFunc(Wrappers(), func(w string) bool { return Wraps(w, kind) })
}

// layerNote says what the same list would do on the other layer, and why.
func layerNote(decl probes.Client, a probes.Audit) string {
	if decl.Retry == nil || decl.Retry.Attempts == 1 || !decl.Retry.Repeats(http.MethodGet) || a.Wrapper == "" {
		return ""
	}
	here, there := countedMisses(decl), countedMisses(onLayer(decl, otherLayer(decl.Retry.Layer)))
	network := lookupWrapper(decl.WrappedBy).network
	wraps := fmt.Sprintf("%s wraps every I/O error in %s", a.Wrapper, network)
	inside := decl.Retry.Layer == probes.LayerInside
	switch {
	case inside && len(there) < len(here):
		held := onLayer(decl, probes.LayerAround)
		by := meet(held, probes.ReasonNoResponse, http.MethodGet, 0).by()
		return fmt.Sprintf("With `layer: around` the same list covers %s of these network failures: %s, %s. Inside, the layer sees the client's own errors and never that class.", share(len(here)-len(there), len(here)), wraps, holds(by, network))
	case inside:
		return ""
	case len(here) < len(there):
		return fmt.Sprintf("One entry covers all network failures because of `layer: around`: %s. Inside, the same list would miss %d of them and need the client's own errors: %s.", wraps, len(there), sentence(entriesOf(there)))
	case len(here) > 0:
		return fmt.Sprintf("Around it the layer never sees the client's own errors: %s, so that this one entry covers them all.", wraps)
	}
	return ""
}

func holds(by, network string) string {
	if listed([]string{by}, network) {
		return "which the list holds"
	}
	return "which is a " + by + ", and that the list holds"
}

func share(n, of int) string {
	if n == of {
		return fmt.Sprintf("all %d", of)
	}
	return fmt.Sprintf("%d of the %d", n, of)
}

// countedMisses are the misses of a GET that make an audit fail.
func countedMisses(decl probes.Client) []probes.AuditRow {
	return slices.DeleteFunc(auditRows(decl, http.MethodGet), func(r probes.AuditRow) bool { return !r.Counts })
}

// entriesOf are the distinct entries of rows, in their order.
func entriesOf(rows []probes.AuditRow) []string {
	var out []string
	for _, r := range rows {
		if !slices.Contains(out, r.Entry) {
			out = append(out, r.Entry)
		}
	}
	return out
}

// postNote warns of what entries do to a request that must not run twice.
func postNote(decl probes.Client, a probes.Audit) string {
	now := auditRows(decl, http.MethodPost)
	var already, twice []probes.AuditRow
	for i, r := range auditRows(holding(decl, slices.Concat(a.Missing, a.Answers)...), http.MethodPost) {
		switch {
		case now[i].Result == probes.AuditUnsafe && now[i].By != a.Name:
			already = append(already, now[i])
		case now[i].Result != probes.AuditUnsafe && r.Result == probes.AuditUnsafe:
			twice = append(twice, r)
		}
	}
	switch {
	case len(a.Missing)+len(a.Answers) > 0 && len(twice) > 0:
		return fmt.Sprintf("Add them for GET and other idempotent methods only, and declare that with client.retry.methods: after %s a POST would be sent again though it may have been executed.", reasonsOf(twice))
	case len(already) > 0 && len(decl.Retry.Methods) == 0:
		return "Without client.retry.methods the layer is taken to repeat every method. If it repeats only GET and the like, declare that: `methods: [GET, HEAD]`."
	}
	return ""
}

// ownRetriesNote says what the client sends again by itself, or would.
func ownRetriesNote(decl probes.Client, a probes.Audit) string {
	on, off := decl, decl
	on.AutomaticRetries, off.AutomaticRetries = probes.SwitchDefault, probes.SwitchNone
	hidden := slices.DeleteFunc(auditRows(on, http.MethodGet), func(r probes.AuditRow) bool { return r.By != a.Name })
	if len(hidden) == 0 {
		return ""
	}
	if still := slices.DeleteFunc(slices.Clone(a.Rows), func(r probes.AuditRow) bool { return r.By != a.Name }); decl.AutomaticRetries == probes.SwitchNone && len(still) > 0 {
		return fmt.Sprintf("`automatic_retries: none` is declared, but perch knows of nothing that keeps %s from sending again after %s: judged is that it does.", a.Name, reasonsOf(still))
	}
	if decl.AutomaticRetries == probes.SwitchNone {
		return fmt.Sprintf("The client's automatic retries are off. With them on it would by itself send a GET again after %s.", reasonsOf(hidden))
	}
	note := fmt.Sprintf("The client by itself sends a GET again after %s, so that no retry list sees it unless that fails, too.", reasonsOf(hidden))
	if client, _ := Lookup(decl.Kind); decl.Retry == nil || client.Retries.Off == "" {
		return note
	}
	all := countedMisses(off)
	bare := slices.DeleteFunc(all, func(r probes.AuditRow) bool {
		return !slices.ContainsFunc(hidden, func(h probes.AuditRow) bool { return h.Reason == r.Reason })
	})
	if len(bare) == 0 {
		return note
	}
	return note + " With its automatic retries off the list would also have to hold " + sentence(entriesOf(bare)) + "."
}

// looksNote says from which idle age on the client looks, and what it sees.
func looksNote(decl probes.Client, a probes.Audit) string {
	client, _ := Lookup(decl.Kind)
	var sees []probes.AuditRow
	for _, r := range a.Rows {
		if r.Method == http.MethodGet && (r.NoticedFrom > 0 || r.Result == probes.AuditNoticed) {
			sees = append(sees, r)
		}
	}
	if decl.HTTP2 && len(sees) == 0 {
		return "" // that it looks is known of HTTP/1.1 alone
	}
	limit := client.ValidateAfter(decl)
	switch limit.Mode {
	case probes.LimitAfter:
		return fmt.Sprintf("From %s s of idleness on it looks at a connection before it uses it, and notices %s. Judged here is a connection that was idle for less.", seconds(limit.After), reasonsOf(sees))
	case probes.LimitAlways:
		return fmt.Sprintf("It looks at every connection before it uses it, and notices %s. A close that crosses the request it cannot see.", reasonsOf(sees))
	case probes.LimitDefault, probes.LimitNone:
	}
	if len(sees) > 0 {
		return fmt.Sprintf("It does not look at a connection before a GET, but notices %s when it writes.", reasonsOf(sees))
	}
	return "It does not look at a connection before a GET."
}

// coveredTooNote explains why an exact error is not in the list of the missing:
// another one there is its parent.
func coveredTooNote(decl probes.Client, a probes.Audit) string {
	var by []string // the parents, in the order of their list
	covered := map[string][]string{}
	tree := errorTree(tryingAgain(decl))
	for _, entry := range entriesOf(missedRows(tryingAgain(decl), []string{http.MethodGet})) {
		for _, parent := range kindsOf(tree, entry)[1:] {
			if !slices.Contains(a.Missing, parent) {
				continue
			}
			if covered[parent] == nil {
				by = append(by, parent)
			}
			covered[parent] = append(covered[parent], entry)
			break
		}
	}
	var said []string
	for _, parent := range by {
		said = append(said, parent+" covers "+sentence(covered[parent]))
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(said, "; ") + "."
}

// oneStatusNote is about an entry that covers 503 alone, where 502 and 504 are
// the same reason.
func oneStatusNote(decl probes.Client) string {
	m := meet(decl, probes.ReasonUnavailable, http.MethodGet, 0)
	if decl.Retry == nil || m.result != Failed || m.cover() == probes.CoverUncovered {
		return ""
	}
	var statuses []string
	for _, status := range []int{http.StatusBadGateway, http.StatusGatewayTimeout} {
		if !m.listed(m.namesOf(status)) {
			statuses = append(statuses, fmt.Sprint(status))
		}
	}
	if len(statuses) == 0 {
		return ""
	}
	note := fmt.Sprintf("%s covers the status 503 alone: %s, which perch calls unavailable as well, would not be asked for again.", m.by(), sentence(statuses))
	if left := m.entries(); !slices.Equal(left, statuses) {
		return note + " Their names here: " + sentence(left) + "."
	}
	return note
}

// uselessRetryNote is about what is sent again since another failure's entry
// covers it too, and will fail again.
func uselessRetryNote(a probes.Audit) string {
	var rows []probes.AuditRow
	for _, r := range a.Rows {
		if (r.Reason == probes.ReasonTLS || r.Reason == probes.ReasonCertificate) && r.Method == http.MethodGet && r.Result == probes.AuditRetried && r.By != a.Name {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return fmt.Sprintf("After %s a GET is sent again, too, since the list holds %s: harmless and useless. A handshake or a certificate that failed will fail again; alert on it.", reasonsOf(rows), rows[0].By)
}

// blindNote is about what no retry layer can see: it looks like an answer. What
// a proxy answers is left out: few have one, and it has a status of its own.
func blindNote(a probes.Audit) string {
	var blind []string
	for _, r := range a.Rows {
		if r.Method == http.MethodGet && r.Reason != probes.ReasonProxy && r.Answer && r.Entry == "" && r.Result != probes.AuditRetried {
			blind = append(blind, fmt.Sprintf("%s (the client %s)", r.Reason, r.Experiences))
		}
	}
	if len(blind) == 0 {
		return ""
	}
	return "No retry list can cover " + sentence(blind) + ". Only a look at what came can tell."
}

func strangersNote(decl probes.Client) string {
	entries := strangers(decl)
	if len(entries) == 0 {
		return ""
	}
	return "Counted as covering nothing, since the catalog does not know them: " + strings.Join(entries, ", ") + "."
}

// reasonsOf joins the reasons of rows.
func reasonsOf(rows []probes.AuditRow) string {
	var all []string
	for _, r := range rows {
		if !slices.Contains(all, string(r.Reason)) {
			all = append(all, string(r.Reason))
		}
	}
	return sentence(all)
}

// sentence joins like a sentence does: a, b and c.
func sentence(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}
