package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"perch.example/probes"
)

// echoes are the ways in which another side may write what it was sent.
func echoes() map[string]func(string) string {
	quoted := func(text string, escape bool) string {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(escape)
		if err := encoder.Encode(text); err != nil {
			return err.Error()
		}
		return b.String()
	}
	lower := func(text string) string { // of the escapes alone
		for at := 0; at+2 < len(text); at++ {
			if text[at] == '%' {
				text = text[:at+1] + strings.ToLower(text[at+1:at+3]) + text[at+3:]
			}
		}
		return text
	}
	return map[string]func(string) string{
		"as it is":                 func(s string) string { return s },
		"JSON":                     func(s string) string { return quoted(s, false) },
		"JSON for HTML":            func(s string) string { return quoted(s, true) },
		"JSON with slashes":        func(s string) string { return strings.ReplaceAll(quoted(s, false), "/", `\/`) },
		"ASCII":                    strconv.QuoteToASCII,
		"HTML":                     html.EscapeString,
		"HTML with names":          strings.NewReplacer("&", "&amp;", `"`, "&quot;", "'", "&apos;", "<", "&lt;", ">", "&gt;").Replace,
		"HTML in hex":              strings.NewReplacer("&", "&#x26;", `"`, "&#X0022;", "<", "&#x3C;", ">", "&#62;").Replace,
		"a query":                  url.QueryEscape,
		"a path":                   url.PathEscape,
		"a query in lower case":    func(s string) string { return lower(url.QueryEscape(s)) },
		"a path in lower case":     func(s string) string { return lower(url.PathEscape(s)) },
		"a component of a URL":     func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
		"a component, but for !()": strings.NewReplacer("+", "%2B", "/", "%2F", `"`, "%22", "<", "%3c", ">", "%3e", "&", "%26", "=", "%3D").Replace,
	}
}

// TestNoWritingShowsASecret: who echoes one has put it into something.
func TestNoWritingShowsASecret(t *testing.T) {
	for _, secret := range []string{`to"ken<hunter2>&more`, "ab/cd+hunter2==", `back\\slash\'hunter2(!)`, "p%20q hunter2", "пароль hunter2 é😀"} {
		for name, write := range echoes() {
			text := "bad " + write(secret) + " and " + write("Bearer "+secret) + "."
			for _, scrub := range []scrubber{scrubber{}.and(secret), scrubber{}.andHeader(http.Header{"Authorization": {"Bearer " + secret}})} {
				if got := scrub.text(text); strings.Contains(got, "hunter2") || strings.Contains(got, "ken") || strings.Contains(got, "more") {
					t.Errorf("%s as %s: %q shows %q", secret, name, text, got)
				}
			}
		}
	}
}

// TestScrubbedIsNoMore than the secret: what is like it stays.
func TestScrubbedIsNoMore(t *testing.T) {
	scrub := scrubber{}.and("a.c+12345", "short", "services")
	for _, text := range []string{"abc+12345", "aXc12345", "short services", "a.c 12345"} {
		if got := scrub.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := (scrubber{}).and("abcdefgh", "abcdefgh-and-more").text("x abcdefgh-and-more y"); got != "x [secret] y" {
		t.Errorf("of one that holds another is left: %q", got)
	}
}

// TestEchoedSecretsAreNotShown in what a destination's failure says.
func TestEchoedSecretsAreNotShown(t *testing.T) {
	const token = `to"ken<hunter2>&more`
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		echo, err := json.Marshal(r.Header.Get("Authorization"))
		return canned(http.StatusUnauthorized, fmt.Sprintf("bad %s at %s", echo, r.URL), nil), err
	})}
	headers := func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + token}}, nil
	}
	_, err := NewWebhook(probes.NewSecret(`https://hook.example/pa"thhunter2?k=quer%22yhunter2`), headers, client).Send(t.Context(), Notice{ID: "1"}, Receipt{})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "[secret]") {
		t.Errorf("it says %v", err)
	}
}

// FuzzScrub: no secret makes a pattern that is none, or leaves itself.
func FuzzScrub(f *testing.F) {
	for _, secret := range []string{"hunter2hunter2", `a"b\\c(d)*e`, "\xff\xfe12345678", "пароль 😀", "[a-z]+$^.{8}"} {
		f.Add(secret)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		if len(secret) < 8 || strings.Contains("x [secret] y", secret) {
			return
		}
		for name, write := range echoes() {
			if strings.HasPrefix(name, "HTML with") || strings.HasPrefix(name, "HTML in") {
				continue
			}
			if got := (scrubber{}).and(secret).text("x " + write(secret) + " y"); strings.Contains(got, secret) {
				t.Errorf("%q as %s: %q", secret, name, got)
			}
		}
	})
}
