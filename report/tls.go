package report

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// tlsJSON is what the handshake of an outcome's connection showed.
type tlsJSON struct {
	Version    string           `json:"version,omitempty"`
	Cipher     string           `json:"cipher,omitempty"`
	ALPN       string           `json:"alpn,omitempty"`
	ServerName string           `json:"server_name,omitempty"`
	Leaf       *certificateJSON `json:"certificate,omitempty"`
	Earliest   *certificateJSON `json:"expires_first,omitempty"`
	Anchor     *certificateJSON `json:"anchor,omitempty"`
	Names      []string         `json:"names,omitempty"`
	MustStaple bool             `json:"must_staple,omitempty"`
	Staple     *stapleJSON      `json:"ocsp_staple,omitempty"`
}

type certificateJSON struct {
	Subject   string `json:"subject,omitempty"`
	Issuer    string `json:"issuer,omitempty"`
	NotBefore string `json:"not_before,omitempty"`
	NotAfter  string `json:"not_after"`
	Authority bool   `json:"authority,omitempty"`
	Root      bool   `json:"root,omitempty"`
}

type stapleJSON struct {
	Status     string `json:"status"`
	ThisUpdate string `json:"this_update,omitempty"`
	NextUpdate string `json:"next_update,omitempty"`
	RevokedAt  string `json:"revoked_at,omitempty"`
	By         string `json:"by,omitempty"`
}

// newTLS is of the first attempt that came to a handshake; nil: none did.
func newTLS(o probes.Outcome) *tlsJSON {
	f := handshake(&o)
	if f == nil {
		return nil
	}
	out := &tlsJSON{
		Version: f.Version, Cipher: f.Cipher, ALPN: f.ALPN, ServerName: f.ServerName,
		Leaf: newCertificate(f.Leaf), Earliest: newCertificate(f.Earliest), Anchor: newCertificate(f.Anchor), Names: f.Names, MustStaple: f.MustStaple,
	}
	if s := f.Staple; s != nil {
		out.Staple = &stapleJSON{
			Status: string(s.Status), ThisUpdate: timestamp(s.ThisUpdate), NextUpdate: timestamp(s.NextUpdate), RevokedAt: timestamp(s.RevokedAt), By: s.By,
		}
	}
	return out
}

func newCertificate(c probes.Certificate) *certificateJSON {
	if c.NotAfter.IsZero() {
		return nil
	}
	return &certificateJSON{Subject: c.Subject, Issuer: c.Issuer, NotBefore: timestamp(c.NotBefore), NotAfter: timestamp(c.NotAfter), Authority: c.Authority, Root: c.Root}
}

func handshake(o *probes.Outcome) *probes.TLSFacts {
	for i := range o.Attempts {
		if f := o.Attempts[i].TLS; f != nil {
			return f
		}
	}
	return nil
}

// shown is a probe of kind tls in a line: what was agreed, and how long it is good.
func shown(o *probes.Outcome) string {
	f := handshake(o)
	if f == nil || f.Version == "" {
		return ""
	}
	text := "TLS " + f.Version
	if f.ALPN != "" {
		text += ", " + f.ALPN
	}
	if end := f.Earliest.NotAfter; !end.IsZero() {
		whose := "good until "
		switch anchor := f.Anchor.NotAfter; {
		case !anchor.IsZero() && anchor.Before(end):
			whose, end = fmt.Sprintf("good until the end of %q in tls.ca_file, ", f.Anchor.Subject), anchor
		case f.Earliest != f.Leaf:
			whose = fmt.Sprintf("good until the end of %q, ", f.Earliest.Subject)
		}
		text += fmt.Sprintf(", certificate of %q by %q, %s%s", f.Leaf.Subject, f.Leaf.Issuer, whose, end.UTC().Format(time.DateOnly))
	}
	if s := f.Staple; s != nil {
		text += ", OCSP staple " + string(s.Status)
	}
	return text
}
