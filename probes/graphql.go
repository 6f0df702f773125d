package probes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// mostTokens bounds what one GraphQL text may cost to read.
const mostTokens = 50_000

// ChangesNothing refuses a request that GraphQL would carry out as a change, or
// of which perch cannot tell: a mutation or subscription in its body or in a
// query parameter, also beside queries, since the operation's name may come from
// elsewhere. The config asks it of what is written there, and a probe again of
// what it sends, right before the first byte. Its errors hold nothing of what was
// sent, which may be a secret.
func ChangesNothing(u *url.URL, header http.Header, body []byte) error {
	sure := graphQLPath(u)
	if err := changingParameters(u.RawQuery, sure); err != nil {
		return fmt.Errorf("its query parameters: %w", err)
	}
	if len(body) == 0 {
		return nil
	}
	if err := (request{header: header, sure: sure}).judge(body); err != nil {
		return fmt.Errorf("its body: %w", err)
	}
	return nil
}

// graphQLPath reports whether a path says of itself that GraphQL is served there.
func graphQLPath(u *url.URL) bool {
	switch strings.ToLower(path.Base(u.Path)) {
	case "graphql", "gql":
		return true
	}
	return false
}

// request is a body's surroundings.
type request struct {
	header http.Header
	sure   bool // it is GraphQL
}

func (r request) judge(body []byte) error {
	if r.header.Get("Content-Encoding") != "" {
		return errors.New("its Content-Encoding hides what it says")
	}
	kind, parameters, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil && r.header.Get("Content-Type") != "" {
		return errors.New("its Content-Type cannot be read")
	}
	switch strings.ToLower(parameters["charset"]) {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return errors.New("its charset is not UTF-8, so that perch cannot read it")
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		return errors.New("it has several parts, which perch does not read")
	case kind == "application/graphql":
		return changingText(string(body), true)
	case kind == "application/x-www-form-urlencoded":
		return changingParameters(string(body), r.sure)
	}
	err = r.judgeJSON(body)
	var no *notJSON
	switch {
	case !errors.As(err, &no):
		return err
	case kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json"):
		return errors.New("it is no JSON, although its Content-Type says so")
	}
	return changingText(string(body), r.sure)
}

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
				if err := r.judgeValue(one); err != nil {
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

// judgeValue judges a request, or each of a batch.
func (r request) judgeValue(value json.RawMessage) error {
	switch value[0] { // a decoded value begins with its first byte
	case '[':
		var batch []json.RawMessage
		if err := json.Unmarshal(value, &batch); err != nil {
			return &notJSON{err}
		}
		for _, one := range batch {
			if one[0] == '[' {
				continue // no request
			}
			if err := r.judgeValue(one); err != nil {
				return err
			}
		}
	case '{':
		return r.judgeObject(value)
	}
	return nil
}

// judgeObject looks at every member: a key that is there twice means the first
// to one server and the last to another, and some do not mind its case.
func (r request) judgeObject(value json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(value))
	_, err := d.Token()
	texts, persisted := 0, false
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
		switch strings.ToLower(name) {
		case "query":
			var text string
			if json.Unmarshal(member, &text) != nil || text == "" {
				continue
			}
			texts++
			if err := changingText(text, r.sure || looksGraphQL(text)); err != nil {
				return err
			}
		case "extensions":
			var extensions map[string]json.RawMessage
			persisted = persisted || json.Unmarshal(member, &extensions) == nil && hasFolded(extensions, "persistedquery")
		}
	}
	switch {
	case err != nil:
		return &notJSON{err}
	case texts == 0 && persisted:
		return errors.New("it names a persisted query, of which perch cannot tell what it does; want its text under query")
	case texts == 0 && r.sure:
		return errors.New("it holds no query's text, so that perch cannot tell what it does")
	}
	return nil
}

func hasFolded(members map[string]json.RawMessage, name string) bool {
	for key := range members {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// changingParameters judges a URL's query, or a form: GraphQL reads both.
func changingParameters(encoded string, sure bool) error {
	for _, pair := range strings.Split(encoded, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, _, _ = strings.Cut(unescaped(name), "[")
		if !strings.EqualFold(name, "query") {
			continue
		}
		text := unescaped(value)
		if err := changingText(text, sure && strings.Contains(text, "{")); err != nil {
			return err
		}
	}
	return nil
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// changingText refuses a text that holds an operation that changes something, or
// that is GraphQL for sure and cannot be read. One that does not begin as GraphQL,
// or has no keyword of a change, holds none, whatever it is: a search, PromQL.
func changingText(text string, sure bool) error {
	changes := strings.Contains(text, "mutation") || strings.Contains(text, "subscription")
	if !sure && (!changes || !looksGraphQL(text)) {
		return nil
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, mostTokens)
	if err != nil {
		return unreadable(err)
	}
	for _, op := range doc.Operations {
		if op.Operation != ast.Query {
			return fmt.Errorf("it holds a GraphQL %s", op.Operation)
		}
	}
	if len(doc.Operations) == 0 {
		return errors.New("it holds no GraphQL operation")
	}
	return nil
}

// looksGraphQL reports whether a text begins as a GraphQL document does, and has
// the brace that each has.
func looksGraphQL(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n,\ufeff")
	if text == "" || !strings.Contains(text, "{") {
		return false
	}
	word := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); i >= 0 {
		word = text[:i]
	}
	switch word {
	case "query", "mutation", "subscription", "fragment":
		return true
	}
	return strings.ContainsRune("{#\"", rune(text[0])) // a selection, a comment, a description
}

// unreadable says where, and not what: the parser's own words repeat the text.
func unreadable(err error) error {
	var at *gqlerror.Error
	if errors.As(err, &at) && len(at.Locations) > 0 {
		return fmt.Errorf("it looks like GraphQL and cannot be read, line %d column %d", at.Locations[0].Line, at.Locations[0].Column)
	}
	return errors.New("it looks like GraphQL and cannot be read")
}
