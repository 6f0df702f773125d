package clients

import (
	"net/http"
	"slices"

	"perch.example/probes"
)

// missing returns the smallest set of exact names that the list would have to
// hold too for nothing transient to be missed: errors, and the statuses of
// answers. Without a declared policy it is a whole list.
func missing(decl probes.Client, methods []string) (errors, answers []string) {
	decl = tryingAgain(decl)
	tree, all := errorTree(decl), map[string]bool{}
	for _, r := range missedRows(decl, methods) {
		all[r.Entry] = true
	}
	var strays []string // last: they are no answers to the request
	for _, r := range missedRows(decl, methods) {
		if slices.ContainsFunc(kindsOf(tree, r.Entry)[1:], func(parent string) bool { return all[parent] }) {
			continue
		}
		into := &errors
		switch {
		case r.Reason == probes.ReasonIdleBytes && r.Answer:
			into = &strays
		case r.Answer:
			into = &answers
		}
		for _, entry := range meet(decl, r.Reason, r.Method, 0).entries() {
			if !slices.Contains(*into, entry) {
				*into = append(*into, entry)
			}
		}
	}
	return errors, append(answers, strays...)
}

// missedRows are the transient ones that a list could cover, for methods that
// may be sent twice.
func missedRows(decl probes.Client, methods []string) []probes.AuditRow {
	var rows []probes.AuditRow
	for _, method := range methods {
		if !idempotent(method) {
			continue
		}
		for _, r := range auditRows(decl, method) {
			if r.Result == probes.AuditMissed && r.Transient && r.Entry != "" {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// tryingAgain is the declaration with a policy that can send a GET again at
// all, on the layer on which the application stands if it declares none.
func tryingAgain(decl probes.Client) probes.Client {
	if decl.Retry == nil {
		decl.Retry = &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 2}
		if decl.WrappedBy != "" {
			decl.Retry.Layer = probes.LayerAround
		}
		return decl
	}
	policy := *decl.Retry
	policy.Attempts = max(2, policy.Attempts)
	if !policy.Repeats(http.MethodGet) {
		policy.Methods = append([]string{http.MethodGet}, policy.Methods...)
	}
	decl.Retry = &policy
	return decl
}

// holding is the declaration with more entries in its list.
func holding(decl probes.Client, entries ...string) probes.Client {
	decl = tryingAgain(decl)
	policy := *decl.Retry
	policy.Errors = slices.Concat(policy.Errors, entries)
	decl.Retry = &policy
	return decl
}

// onLayer is the declaration with its policy on that layer.
func onLayer(decl probes.Client, layer probes.RetryLayer) probes.Client {
	decl = tryingAgain(decl)
	policy := *decl.Retry
	policy.Layer = layer
	decl.Retry = &policy
	return decl
}

// errorTree is the hierarchy of what the declared layer sees.
func errorTree(decl probes.Client) map[string][]string {
	if w := lookupWrapper(decl.WrappedBy); w != nil && decl.Retry != nil && decl.Retry.Layer == probes.LayerAround {
		return w.errors()
	}
	client, _ := Lookup(decl.Kind)
	return client.Errors
}
