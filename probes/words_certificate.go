package probes

import (
	"fmt"
	"strings"
	"time"
)

// longestWarned is how long before its end a certificate is told of.
const longestWarned = 21 * 24 * time.Hour

// certificateWords say what is wrong with the certificate: its time, from its
// own dates, or what the verification says of it. What is not known is left to
// the diagnosis.
func (o Outcome) certificateWords() string {
	a := o.certified()
	if a == nil {
		return o.Diagnosis.Words()
	}
	at := a.Started
	if at.IsZero() { // no request left
		at = o.Started
	}
	c, what := a.Expires(), "the certificate"
	switch {
	case a.TLS == nil || a.TLS.Earliest == a.TLS.Leaf:
	case a.TLS.Earliest.Root:
		what = "the root certificate"
	default:
		what = "an intermediate certificate"
	}
	if end := a.AnchorEnding(at); a.Reason != ReasonCertificate && !end.NotAfter.IsZero() && c.NotAfter.Sub(at) > longestWarned {
		c, what = end, "the root certificate in tls.ca_file"
	}
	left := c.NotAfter.Sub(at)
	detail := strings.ToLower(a.Detail)
	says := func(any ...string) bool {
		for _, text := range any {
			if strings.Contains(detail, text) {
				return true
			}
		}
		return false
	}
	switch {
	case !c.NotAfter.IsZero() && left <= 0:
		return what + " expired on " + c.NotAfter.UTC().Format(time.DateOnly)
	case a.Reason != ReasonCertificate && left > longestWarned && a.StapleTrouble(at) != "":
		return "the certificate " + a.StapleTrouble(at)
	case a.Reason != ReasonCertificate:
		return what + " expires " + within(left)
	case says("its certificate is revoked"):
		return "the certificate is revoked"
	case says("is valid for", "not valid for any names", "contain any ip sans", "legacy common name"):
		return "the certificate is not valid for this name"
	case says("unknown authority", "self-signed", "self signed"):
		return "the certificate is signed by nobody that perch trusts"
	case says("expired or is not yet valid"): // its own end is yet to come
		return "the certificate, or one that it is signed with, is not valid at this time"
	}
	return "the certificate is not valid"
}

// certified is the attempt that shows the certificate's trouble; nil: none does.
func (o Outcome) certified() *Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Reason == ReasonCertificate || a.OK() && !a.Expires().NotAfter.IsZero() && a.Reason == o.Reason {
			return a
		}
	}
	return nil
}

// within says when a certificate ends.
func within(left time.Duration) string {
	if text := Remaining(left); text != "" {
		return "in " + text
	}
	return "within two hours"
}

// Remaining says a time that is left in whole days, or in hours where there are
// less than two of them; empty where there are less than two hours.
func Remaining(left time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case left >= 2*day:
		return fmt.Sprintf("%d days", left/day)
	case left >= 2*time.Hour:
		return fmt.Sprintf("%d hours", left/time.Hour)
	}
	return ""
}
