package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"perch.example/probes"
)

// The audit's JSON is a contract like the report's (docs/audit.md): keys may be
// added, never renamed; an absent key means unknown or none.
type auditsJSON struct {
	Version    string      `json:"version"`
	Name       string      `json:"name,omitempty"`
	Verdict    string      `json:"verdict"`
	Audits     []auditJSON `json:"audits"`
	Undeclared []string    `json:"undeclared"`
	Unjudged   []string    `json:"unjudged"`
	Doubts     []string    `json:"doubts"`
}

type auditJSON struct {
	Targets []string         `json:"targets"`
	Verdict string           `json:"verdict"`
	Client  auditClientJSON  `json:"client"`
	Retry   *auditPolicyJSON `json:"retry,omitempty"`
	Rows    []auditRowJSON   `json:"rows"`
	Missing []string         `json:"missing"`
	Answers []string         `json:"missing_answers"`
	Useless []string         `json:"useless"`
	Notes   []string         `json:"notes"`
	Doubts  []string         `json:"doubts"`
}

type auditClientJSON struct {
	Kind             string        `json:"kind"`
	Proto            string        `json:"proto"`
	Name             string        `json:"name"`
	WrappedBy        string        `json:"wrapped_by,omitempty"`
	AutomaticRetries probes.Switch `json:"automatic_retries,omitempty"`
}

type auditPolicyJSON struct {
	Layer    probes.RetryLayer `json:"layer"`
	Attempts int               `json:"attempts"`
	Methods  []string          `json:"methods,omitempty"`
	Errors   []string          `json:"errors"`
}

type auditRowJSON struct {
	Reason      probes.Reason      `json:"reason"`
	Method      string             `json:"method"`
	Result      probes.AuditResult `json:"result"`
	Transient   bool               `json:"transient"`
	Answer      bool               `json:"answer"`
	Counts      bool               `json:"counts"`
	By          string             `json:"by,omitempty"`
	Experiences string             `json:"experiences,omitempty"`
	Wrapped     string             `json:"wrapped_in,omitempty"`
	Entry       string             `json:"entry,omitempty"`
	NoticedFrom float64            `json:"noticed_from_seconds,omitzero"`
}

// AuditJSON writes the audits as one JSON document. The error is w's.
func AuditJSON(w io.Writer, all probes.Audits) error {
	d := auditsJSON{
		Version: all.Version, Name: all.Name, Verdict: "unknown",
		Audits: []auditJSON{}, Undeclared: append([]string{}, all.Undeclared...), Doubts: append([]string{}, all.Doubts...),
		Unjudged: append([]string{}, all.Unjudged...),
	}
	for _, a := range all.Audits {
		one := newAudit(a)
		d.Audits = append(d.Audits, one)
		d.Verdict = worseAudit(d.Verdict, one.Verdict, len(d.Audits) == 1)
	}
	if len(all.Unjudged) > 0 {
		d.Verdict = worseAudit(d.Verdict, "unknown", false)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("encoding the audit: %w", err)
	}
	if _, err := w.Write(escaped(b.Bytes())); err != nil {
		return fmt.Errorf("writing the audit: %w", err)
	}
	return nil
}

// worseAudit is the worse of two verdicts: missed, then unknown, then covered.
func worseAudit(a, b string, first bool) string {
	if first || b == "missed" || a == "covered" {
		return b
	}
	return a
}

func newAudit(a probes.Audit) auditJSON {
	out := auditJSON{
		Targets: append([]string{}, a.Targets...), Verdict: auditVerdict(a),
		Client: auditClientJSON{Kind: a.Client.Kind, Proto: auditProto(a), Name: a.Name, WrappedBy: a.Client.WrappedBy, AutomaticRetries: a.Client.AutomaticRetries},
		Rows:   []auditRowJSON{}, Missing: append([]string{}, a.Missing...), Answers: append([]string{}, a.Answers...),
		Useless: append([]string{}, a.Useless...), Notes: append([]string{}, a.Notes...), Doubts: append([]string{}, a.Doubts...),
	}
	if r := a.Client.Retry; r != nil {
		out.Retry = &auditPolicyJSON{Layer: r.Layer, Attempts: r.Attempts, Methods: r.Methods, Errors: append([]string{}, r.Errors...)}
	}
	for _, r := range a.Rows {
		out.Rows = append(out.Rows, auditRowJSON{
			Reason: r.Reason, Method: r.Method, Result: r.Result, Transient: r.Transient, Answer: r.Answer, Counts: r.Counts,
			By: r.By, Experiences: r.Experiences, Wrapped: r.Wrapped, Entry: r.Entry, NoticedFrom: seconds(r.NoticedFrom),
		})
	}
	return out
}

// auditProto is what the audited connections speak, as an attempt's proto says it.
func auditProto(a probes.Audit) string {
	if a.Client.HTTP2 {
		return "HTTP/2.0"
	}
	return "HTTP/1.1"
}

func auditVerdict(a probes.Audit) string {
	switch {
	case a.Missed():
		return "missed"
	case a.Client.Retry == nil, len(a.Unknown()) > 0:
		return "unknown"
	default:
		return "covered"
	}
}
