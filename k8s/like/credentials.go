package like

import (
	"regexp"
	"slices"
	"strings"
)

// What follows decides by looks. Who is wrong about a credential prints it, who
// is wrong about something else lets a person copy it by hand: so it says yes where
// it does not know.

// credentialName reports whether a variable, a flag or a field is called as
// secrets are.
func credentialName(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "_FILE") || strings.HasSuffix(name, "-FILE") {
		return false // it says where one lies
	}
	return slices.ContainsFunc([]string{"PASS", "PWD", "SECRET", "TOK", "CRED", "PRIVATE", "KEY", "AUTH"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// credentialText reports whether a text looks as if a credential stood in it.
func credentialText(text string) bool {
	return regexp.MustCompile(`://[^/@\s]+@`).MatchString(text) ||
		regexp.MustCompile(`(?i)\b(bearer|basic|digest|negotiate)\s+\S`).MatchString(text) ||
		regexp.MustCompile(`(?i)passw|secret|\btok(en)?\b|_token|api[-_ ]?key|credential|authorization|private[-_ ]?key`).MatchString(text) ||
		randomLooking(text)
}

// randomLooking reports whether a text has a long run of letters of both cases and
// digits, as made keys are.
func randomLooking(text string) bool {
	const least = 20
	for _, run := range regexp.MustCompile(`[A-Za-z0-9+_=-]{20,}`).FindAllString(text, -1) {
		if len(run) >= least && strings.ContainsAny(run, "0123456789") && strings.ToLower(run) != run && strings.ToUpper(run) != run {
			return true
		}
	}
	return false
}

// credentialIn looks for credentials in an object's part: in texts that give one a
// name, and in fields that are one. Where a policy is not cloned perch's path
// differs, so here the word alone is not enough: hosts, labels and files have it, too.
func credentialIn(value any) bool {
	switch value := value.(type) {
	case string:
		return credentialGiven(value)
	case []any:
		return slices.ContainsFunc(value, credentialIn)
	case map[string]any:
		for key, inner := range value {
			text, is := inner.(string)
			if key == "matchLabels" || key == "labels" {
				continue
			}
			if (is && credentialField(key, text)) || credentialIn(inner) {
				return true
			}
		}
		for _, named := range []string{"name", "key", "header"} { // a header, a variable
			name, _ := value[named].(string)
			if text, plain := value["value"].(string); plain && text != "" && credentialName(name) {
				return true
			}
		}
	}
	return false
}

// credentialField reports whether a field holds a credential, and not the name or
// the place of one.
func credentialField(key, text string) bool {
	called := regexp.MustCompile(`(?i)(passw(or)?d|pwd|secret|token|api_?key|private_?key|credentials?)$`).MatchString(key)
	return called && text != "" && !strings.HasPrefix(text, "/")
}

// credentialGiven reports whether a text holds a credential with its name, in an
// address, in a header or in code.
func credentialGiven(text string) bool {
	return regexp.MustCompile(`://[^/@\s]+@`).MatchString(text) ||
		regexp.MustCompile(`(?i)\b(bearer|basic)\s+\S`).MatchString(text) ||
		regexp.MustCompile(`(?i)(passw\w*|pwd|secret\w*|token|api[-_ ]?key|credentials?|authorization|private[-_ ]?key)["']?\s*[:=,]\s*["']?\S`).MatchString(text) ||
		randomLooking(text)
}

// credentialArgs looks for credentials in a command line: in each argument, and
// in flags that are called as one.
func credentialArgs(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		return credentialText(arg) || (strings.HasPrefix(arg, "-") && credentialName(flag))
	})
}
