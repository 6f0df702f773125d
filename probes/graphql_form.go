package probes

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// form judges a form. Servers that go by a body's first byte read JSON in it.
func (r request) form(body []byte) error {
	var no *notJSON
	if err := (request{header: r.header}).judgeJSON(body); err != nil && !errors.As(err, &no) {
		return err
	}
	text, err := r.parameters(string(body), true)
	if err == nil && r.sure && !text {
		return errNoText
	}
	return err
}

// parameters judges a URL's query, or a form: GraphQL reads both. text reports
// whether a query's text is among them. A semicolon ends a parameter to some servers
// and not to others, so both readings are judged. Of a strict one, what cannot be
// unescaped is refused: servers differ in what they make of it.
func (r request) parameters(encoded string, strict bool) (text bool, err error) {
	for _, pair := range strings.Split(encoded, "&") {
		readings := []string{pair}
		if strings.Contains(pair, ";") {
			readings = append(readings, strings.Split(pair, ";")...)
		}
		for _, pair := range readings {
			holds, err := r.parameter(pair, strict)
			if err != nil {
				return false, err
			}
			text = text || holds
		}
	}
	return text, nil
}

func (r request) parameter(pair string, strict bool) (text bool, err error) {
	rawName, rawValue, _ := strings.Cut(pair, "=")
	name, errName := url.QueryUnescape(rawName)
	value, errValue := url.QueryUnescape(rawValue)
	if errName != nil || errValue != nil {
		if strict {
			return false, errors.New("it holds a % that escapes nothing, which cannot be read in one way")
		}
		name, value = rawName, rawValue
	}
	query := slices.Contains(words(name), "query")
	switch {
	case overriding(name):
		return false, errOverride
	case strings.Contains(folded(name), "persistedquery"), !query && strings.Contains(folded(value), "persistedquery"), r.sure && naming(name):
		return false, errPersisted
	}
	if err := changingText(name, false); err != nil {
		return false, err
	}
	text = query && strings.Contains(value, "{")
	if r.sure && text {
		return true, changingText(value, true)
	}
	return text, r.judgeText(value, 0)
}
