package probes

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// deepest is how deep JSON may be nested, in strings of JSON too.
const deepest = 100

// notJSON says that a body is something else.
type notJSON struct{ error }

// judgeJSON judges one value after the other: some APIs take several.
func (r request) judgeJSON(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	var all []json.RawMessage
	for {
		var one json.RawMessage
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			for _, one := range all {
				if err := r.judgeTop(one); err != nil {
					return err
				}
			}
			return nil
		case err != nil:
			return &notJSON{err}
		}
		all = append(all, one)
	}
}

// judgeTop judges a request, or each of a batch. Where GraphQL is served, each one is
// an object with a text.
func (r request) judgeTop(value json.RawMessage) error {
	if !r.sure || value[0] != '[' { // a decoded value begins with its first byte
		return r.judgeValue(value, 0)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(value, &batch); err != nil {
		return &notJSON{err}
	}
	if len(batch) == 0 {
		return errNoText
	}
	for _, one := range batch {
		if err := r.judgeValue(one, 0); err != nil {
			return err
		}
	}
	return nil
}

// judgeValue judges a value and all below it: a gateway may take a request out of
// another one, under whatever name.
func (r request) judgeValue(value json.RawMessage, depth int) error {
	if depth > deepest {
		return errUnclear
	}
	if value[0] == '{' {
		return r.judgeObject(value, depth)
	}
	if r.sure && depth == 0 {
		return errNoText
	}
	switch value[0] {
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return &notJSON{err}
		}
		for _, one := range list {
			if err := r.judgeValue(one, depth+1); err != nil {
				return err
			}
		}
	case '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return &notJSON{err}
		}
		return r.judgeText(text, depth+1)
	}
	return nil
}

// judgeText judges a text that may be GraphQL, or JSON that holds some.
func (r request) judgeText(text string, depth int) error {
	if inner := strings.TrimSpace(text); inner != "" && strings.ContainsRune("{[\"", rune(inner[0])) && json.Valid([]byte(inner)) {
		return request{header: r.header}.judgeValue(json.RawMessage(inner), depth+1)
	}
	return changingText(text, false)
}

// judgeObject looks at every member: a key that is there twice means the first
// to one server and the last to another, and some do not mind its case.
func (r request) judgeObject(value json.RawMessage, depth int) error {
	d := json.NewDecoder(bytes.NewReader(value))
	_, err := d.Token()
	var texts, named, speaks bool
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		var member json.RawMessage
		if err = d.Decode(&member); err != nil {
			break
		}
		name, _ := key.(string)
		text, err := r.judgeMember(name, member, depth)
		if err != nil {
			return err
		}
		texts, named, speaks = texts || text != "", named || naming(name), speaks || looksGraphQL(text)
	}
	sure := r.sure && depth == 0
	switch {
	case err != nil:
		return &notJSON{err}
	case named && (sure || speaks):
		return errPersisted
	case sure && !texts:
		return errNoText
	}
	return nil
}

// judgeMember returns what a member holds as a query's text.
func (r request) judgeMember(name string, member json.RawMessage, depth int) (string, error) {
	switch {
	case overriding(name):
		return "", errOverride
	case folded(name) == "persistedquery":
		return "", errPersisted
	}
	var text string
	if folded(name) != "query" || json.Unmarshal(member, &text) != nil || text == "" {
		return "", r.judgeValue(member, depth+1)
	}
	return text, changingText(text, r.sure && depth == 0 || looksGraphQL(text))
}
