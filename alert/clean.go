package alert

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// clean makes a text of an outcome fit to be shown: one line, nothing that
// steers a terminal or turns the reading direction, no query string, and no
// fence that would end a block of fixed text.
func clean(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r > ' ' && r < unicode.MaxASCII: // most texts have no other
			b.WriteByte(byte(r))
		case unicode.IsSpace(r) || unicode.IsControl(r):
			b.WriteByte(' ')
		case visible(r) < 0:
		default:
			b.WriteRune(r)
		}
	}
	words := strings.Fields(b.String())
	for i, word := range words {
		words[i] = withoutQuery(word)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "```", "'''")
}

// withoutQuery cuts the query string out of a word that holds an address or a
// path: "https://a.example/b?c=d" and "/b?c=d", but not "really?".
func withoutQuery(word string) string {
	at := strings.IndexByte(word, '?')
	if at < 0 || !strings.Contains(word[:at], "/") {
		return word
	}
	rest := word[at+1:]
	// What closes the address stays: a quote, a bracket, the sentence's own sign.
	end := strings.IndexAny(rest, "\"'`<>|")
	if end < 0 {
		end = len(strings.TrimRight(rest, ".,;:!)]}"))
	}
	return word[:at] + rest[end:]
}

// publicURL is an address without user, query string and fragment; empty if it
// is none.
func publicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// webURL reports whether an address can be made a link.
func webURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && size(address) <= 500
}

// escape writes the three characters that mean something in Slack's text.
func escape(text string) string {
	text = strings.ReplaceAll(text, "&", "&amp;") // before those that write one
	return strings.ReplaceAll(strings.ReplaceAll(text, "<", "&lt;"), ">", "&gt;")
}

// size counts a text as Slack does: after escaping, in UTF-16.
func size(text string) int {
	n := 0
	for _, r := range text {
		n += runeSize(r)
	}
	return n
}

func runeSize(r rune) int {
	switch r {
	case '&':
		return len("&amp;")
	case '<', '>':
		return len("&lt;")
	}
	return max(1, utf16.RuneLen(r))
}

// shorten cuts a text at a word so that it fits with the mark behind it, and
// closes a code span that the cut left open. Text that fits stays whole.
func shorten(text string, limit int, mark string) string {
	if size(text) <= limit {
		return text
	}
	room := limit - size(mark) - 2 // a blank, and a backquote
	if room <= 0 {
		return ""
	}
	used, end, atWord := 0, 0, 0
	for i, r := range text {
		used += runeSize(r)
		if used > room {
			break
		}
		if r == ' ' || r == '\n' {
			atWord = i
		}
		end = i + utf8.RuneLen(r)
	}
	// A word as long as the text itself is cut inside.
	if atWord > end/2 {
		end = atWord
	}
	kept := strings.TrimRight(text[:end], " \n")
	if strings.Count(kept, "`")%2 == 1 {
		kept += "`"
	}
	return kept + " " + mark
}

// visible is strings.Map's word for what nobody sees: bidi overrides, zero width,
// and bytes that are no text.
func visible(r rune) rune {
	if r == utf8.RuneError || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}
