package clients

import (
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

// onlyFor is the declaration with a policy for these methods.
func onlyFor(decl probes.Client, methods ...string) probes.Client {
	policy := *decl.Retry
	policy.Methods = methods
	decl.Retry = &policy
	return decl
}

// TestMethodsOfThePolicy: a method that the policy does not repeat is not sent
// again by it, whatever its list holds; the others fare as without the key.
func TestMethodsOfThePolicy(t *testing.T) {
	decl := spring(probes.LayerInside, noAnswer)
	for _, tt := range []struct {
		methods []string
		method  string
		want    probes.RetryCover
	}{
		{nil, "GET", probes.CoverCovered},
		{nil, "POST", probes.CoverUnsafe},
		{[]string{"GET", "HEAD"}, "GET", probes.CoverCovered},
		{[]string{"GET", "HEAD"}, "", probes.CoverCovered},
		{[]string{"GET", "HEAD"}, "HEAD", probes.CoverCovered},
		{[]string{"GET", "HEAD"}, "OPTIONS", probes.CoverUncovered},
		{[]string{"GET", "HEAD"}, "POST", probes.CoverUncovered},
		{[]string{"POST"}, "POST", probes.CoverUnsafe},
		{[]string{"POST"}, "GET", probes.CoverUncovered},
	} {
		if _, _, got := Experience(onlyFor(decl, tt.methods...), probes.ReasonEOF, tt.method, 0); got != tt.want {
			t.Errorf("methods %q, eof of a %s: %q, want %q", tt.methods, tt.method, got, tt.want)
		}
	}
	own := onlyFor(probes.Client{Kind: "libcurl", Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 2}}, "GET")
	if _, result, cover := Experience(own, probes.ReasonEOF, "POST", 0); result != Retried || cover != probes.CoverUnsafe {
		t.Errorf("what the client itself does is not the policy's: %s, %s", result, cover)
	}
}

// TestAuditForGETOnly: with every entry and `methods: [GET]` nothing is missed,
// and nothing that a policy does with a POST is unsafe.
func TestAuditForGETOnly(t *testing.T) {
	unsafe := 0
	for _, decl := range declarations() {
		before := Audit(decl, AuditMethods())
		whole := holding(decl, slices.Concat(before.Missing, before.Answers)...)
		wide, narrow := Audit(whole, AuditMethods()), Audit(onlyFor(whole, "GET"), AuditMethods())
		if narrow.Missed() || len(narrow.Missing)+len(narrow.Answers) > 0 {
			t.Errorf("%s: for GET only it would miss %q and %q", describe(whole), narrow.Missing, narrow.Answers)
		}
		for i, r := range narrow.Rows {
			if wide.Rows[i].Result == probes.AuditUnsafe && wide.Rows[i].By != wide.Name {
				unsafe++
			}
			if r.Method == "GET" && r != wide.Rows[i] {
				t.Errorf("%s: a GET after %s: %+v, without methods %+v", describe(whole), r.Reason, r, wide.Rows[i])
			}
			if r.Method == "POST" && r.By != "" && r.By != narrow.Name {
				t.Errorf("%s: a POST is sent again by %s after %s", describe(whole), r.By, r.Reason)
			}
		}
		if notes := strings.Join(Audit(onlyFor(decl, "GET"), AuditMethods()).Notes, "\n"); strings.Contains(notes, "Add them for GET") {
			t.Errorf("%s: told to add them for GET only, which is declared: %s", describe(decl), notes)
		}
	}
	all := Audit(spring(probes.LayerInside), AuditMethods())
	whole := spring(probes.LayerInside, slices.Concat(all.Missing, all.Answers)...)
	says(t, "notes", Audit(whole, AuditMethods()).Notes, "If it repeats only GET and the like, declare that: `methods: [GET, HEAD]`.")
	if notes := Audit(onlyFor(whole, "GET", "POST"), AuditMethods()).Notes; strings.Contains(strings.Join(notes, ""), "client.retry.methods") {
		t.Errorf("the methods are declared, with a POST among them: %q", notes)
	}
	if unsafe == 0 {
		t.Error("no declaration is unsafe without methods")
	}
}

// TestAuditOfMethodsWithoutGET: every GET is missed, and the note says why; the
// list to add is that of the entries alone.
func TestAuditOfMethodsWithoutGET(t *testing.T) {
	whole := Audit(spring(probes.LayerInside), AuditMethods())
	a := Audit(onlyFor(spring(probes.LayerInside, whole.Missing[1:]...), "POST"), AuditMethods())
	if !a.Missed() || !slices.Equal(a.Missing, whole.Missing[:1]) {
		t.Errorf("missed %t, to add %q, want %q", a.Missed(), a.Missing, whole.Missing[:1])
	}
	says(t, "notes", a.Notes, "`methods` does not hold GET")
	if got := results(a, "GET"); got["retried"] != "" {
		t.Errorf("a GET is sent again after %s", got["retried"])
	}
}
