package config

import (
	"strconv"
	"strings"
	"unicode"
)

// show quotes a value for a message, unless it is or looks like a secret.
func show(s string, hidden bool) string {
	if s != "" && hidden || looksSecret(s) {
		return "this value (not shown)"
	}
	return strconv.Quote(clip(s))
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// looksSecret tells a token from a word, to keep it out of messages. It errs
// towards hiding: a hidden word costs a look into the file, a shown token a
// rotation.
func looksSecret(s string) bool {
	lower := strings.ToLower(s)
	for _, mark := range []string{"xox", "ghp_", "sk-", "sk_", "eyj", "akia", "bearer ", "basic ", "-----begin", "hooks.slack.com", "/services/t"} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	if at := strings.LastIndex(s, "@"); at > 0 && strings.Contains(s[:at], "//") {
		return true // a URL with a user and a password
	}
	if i := strings.IndexAny(s, "?&"); i >= 0 && secretParameter(s[i:]) {
		return true
	}
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" /?&=.:,;", r) }) {
		if dense(part) {
			return true
		}
	}
	return false
}

// credential reports whether a literal is one beyond reasonable doubt, so that it
// may be refused: its header is for nothing else, or its value begins as a token
// does.
func credential(name, val string) bool {
	switch folded(name) {
	case "authorization", "proxyauthorization", "cookie", "apikey", "xapikey", "xauthtoken", "xaccesstoken", "privatetoken", "ocpapimsubscriptionkey":
		return true
	}
	lower := strings.ToLower(strings.TrimSpace(val))
	for _, begins := range []string{"bearer ", "ghp_", "xoxb-", "xoxp-", "xapp-", "eyj", "-----begin", "https://hooks.slack.com/services/"} {
		if strings.HasPrefix(lower, begins) {
			return true
		}
	}
	return false
}

// folded is a name as people mean it, however they write it.
func folded(name string) string { return without(strings.ToLower(name), "-_.") }

// exposed tells of a literal that looks like a secret: as a mistake, where it is
// one for sure and many are going to read the config.
func (c *checker) exposed(at place, sure bool, problem, fix string) {
	if sure && c.options.NoCredentials {
		c.wrong(at, problem, fix)
		return
	}
	c.warn(at, problem, fix)
}

// dense reports whether a part is long and mixed as only generated text is.
func dense(part string) bool {
	if len(part) < 16 {
		return false
	}
	var digits, letters, changes int
	var last bool
	for i, r := range part {
		digit := unicode.IsDigit(r)
		if digit {
			digits++
		} else if unicode.IsLetter(r) {
			letters++
		}
		if i > 0 && digit != last {
			changes++
		}
		last = digit
	}
	return digits >= 3 && letters >= 3 && changes >= 4
}

// secretParameter reports whether a literal query names a key as its secret
// ones are named.
func secretParameter(query string) bool {
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '?' || r == '&' || r == ';' }) {
		name, val, _ := strings.Cut(pair, "=")
		if val != "" && secretName(name) {
			return true
		}
	}
	return false
}

// secretName reports whether a header or parameter of this name carries a
// secret.
func secretName(name string) bool {
	switch folded(name) {
	case "key", "apikey", "xapikey", "token", "accesstoken", "authtoken", "xauthtoken", "xaccesstoken", "secret", "clientsecret",
		"password", "passwd", "pwd", "pass", "auth", "authorization", "proxyauthorization", "cookie", "signature", "sig", "credential",
		"subscriptionkey", "ocpapimsubscriptionkey", "sessionid", "session", "jwt", "idtoken", "refreshtoken", "privatetoken":
		return true
	}
	return false
}
