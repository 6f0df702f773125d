package diagnose

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"perch.example/probes"
)

// expiry says how near the end of the certificate is that ends first, of those that
// the chain needs, or what else clients may refuse.
func expiry(a probes.Attempt, now time.Time) Expiry {
	const day = 24 * time.Hour
	end := a.Expires().NotAfter
	switch left := end.Sub(now); {
	case !end.IsZero() && left <= 7*day:
		return ExpiryImminent
	case !end.IsZero() && left <= 21*day:
		return ExpirySoon
	case !a.AnchorEnding(now).NotAfter.IsZero():
		return ExpiryAnchor
	case a.StapleTrouble(now) != "":
		return ExpiryStaple
	}
	return ExpiryFar
}

// expiring words what is wrong with certificates that were accepted.
func (j *judgement) expiring() string {
	now := j.l.in.Now
	if j.facts.Expiry == ExpiryStaple {
		return "the certificate " + j.at.StapleTrouble(now)
	}
	c := j.at.Expires()
	if j.facts.Expiry == ExpiryAnchor {
		c = j.at.AnchorEnding(now)
	}
	left := c.NotAfter.Sub(now)
	when := fmt.Sprintf("expires in %s (%s)", remaining(left), at(c.NotAfter))
	if left <= 0 {
		when = "expired at " + at(c.NotAfter)
	}
	if j.facts.Expiry == ExpiryAnchor {
		return fmt.Sprintf("the root certificate %q, an authority of tls.ca_file that the server's own is signed with, %s", c.Subject, when)
	}
	if intermediate(j.at) {
		return fmt.Sprintf("the intermediate certificate %s, which the server's own is signed with, %s", named(c), when)
	}
	if c.Subject == "" {
		return "the certificate " + when
	}
	return fmt.Sprintf("the certificate %s %s", named(c), when)
}

// intermediate reports whether what ends first is not the server's own.
func intermediate(a *probes.Attempt) bool { return a.TLS != nil && a.TLS.Earliest != a.TLS.Leaf }

// named is a certificate's name, with that of who signed it.
func named(c probes.Certificate) string {
	text := fmt.Sprintf("%q", c.Subject)
	if c.Issuer != "" {
		text += fmt.Sprintf(" (by %q)", c.Issuer)
	}
	return text
}

// remaining is a time that is left, as the headline has it.
func remaining(left time.Duration) string {
	return cmp.Or(probes.Remaining(left), human(left))
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// certificateAdvice says which certificate would do. The handshake's own text
// names the cause; it chooses words here and decides nothing.
func (j *judgement) certificateAdvice() []step {
	has := func(s string) bool { return strings.Contains(j.at.Detail, s) }
	switch {
	case answered(j.at):
		return j.renewAdvice()
	case has("its certificate is revoked"):
		return []step{next("For the API's owner: the certificate is revoked: replace it and its key. Until then, what is sent there may be read by others.")}
	case intermediate(j.at) && j.at.TLS.Earliest.Root && has("x509: certificate has expired") && !has(" is before "):
		return rootAdvice(j.at.TLS)
	case intermediate(j.at) && has("x509: certificate has expired") && !has(" is before "):
		return []step{
			next(fmt.Sprintf("For the API's owner: send the newer certificate of %s (the authority has one), in place of the one that expired on %s.", named(j.at.Expires()), at(j.at.Expires().NotAfter))),
			next("look whether the application's own store of authorities is old: with the newer ones another chain may be good."),
		}
	case has("x509: certificate has expired or is not yet valid") && has(" is before "):
		return []step{next("see whether perch's clock is right: by it the certificate is not valid yet."), next("For the API's owner: the certificate begins in the future.")}
	case has("x509: certificate has expired"):
		return []step{next("For the API's owner: renew the certificate: it has expired.")}
	case has("x509: certificate is valid for"), has("x509: certificate is not valid for any names"), has("x509: cannot validate certificate for"):
		return []step{
			next("compare the host of the URL (and tls.server_name) with the names in the certificate: it was made for another host."),
			next("For the API's owner: the certificate lacks this host's name, if the URL is right."),
		}
	case has("x509: certificate signed by unknown authority"):
		return []step{
			next("give perch and the application the CA that signed it (tls.ca_file): an unknown authority did. A proxy that opens TLS on the way shows such a certificate too."),
			next("For the API's owner: send the intermediate certificates as well, if the authority is a public one."),
		}
	}
	return []step{
		next("give perch and the application the right CA (tls.ca_file), if the API has one of its own."),
		next("For the API's owner: renew the certificate."),
	}
}

// rootAdvice is about an authority that has ended and that nobody sends: clients
// have it, or a newer one.
func rootAdvice(f *probes.TLSFacts) []step {
	c := f.Earliest
	if f.Anchor == c {
		return []step{
			next(fmt.Sprintf("put the newer certificate of the authority %q into tls.ca_file and into the trust stores of the applications: the one that is there ended on %s. Where it was made anew with the same key and name, what it signed stays good.", c.Subject, at(c.NotAfter))),
			next(fmt.Sprintf("For whoever runs the authority %q: make its certificate anew, or sign the server's under another one.", c.Subject)),
		}
	}
	return []step{
		next(fmt.Sprintf("update the system's store of authorities, perch's and the application's: its certificate of %q ended on %s.", c.Subject, at(c.NotAfter))),
		next("For the API's owner: send a chain that leads to an authority which is still good."),
	}
}

// renewAdvice is about certificates that were accepted.
func (j *judgement) renewAdvice() []step {
	c := j.at.Expires()
	switch {
	case j.facts.Expiry == ExpiryStaple:
		return []step{
			next("For the API's owner: let the server fetch its OCSP staple anew before that ends, or ask for a certificate without must-staple: clients that look at staples refuse the connection."),
			next("nothing is to be done where the application's client does not look: most do not unless told to."),
		}
	case j.facts.Expiry == ExpiryAnchor:
		c = j.at.AnchorEnding(j.l.in.Now)
		return []step{
			next(fmt.Sprintf("For whoever runs the authority %q: before %s make its certificate anew (with the same key and name, what it signed stays good), or sign the server's under another one. Renewing the server's own under the same one changes nothing.", c.Subject, at(c.NotAfter))),
			next("put the newer one into tls.ca_file and into the trust stores of the applications, beside the old one until that has ended. Go, OpenSSL and .NET refuse an authority that has ended; Java looks only at what it signed."),
		}
	case intermediate(j.at):
		return []step{next(fmt.Sprintf("For the API's owner: before %s send a newer certificate of the authority %s, or renew the server's own under another. Renewing the server's own under the same one changes nothing.", at(c.NotAfter), named(c)))}
	}
	return []step{next(fmt.Sprintf("For the API's owner: renew the certificate before %s.", at(c.NotAfter)))}
}
