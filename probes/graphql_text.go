package probes

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// mostTokens bounds what one GraphQL text may cost to read.
const mostTokens = 50_000

// changingText refuses a text that holds an operation that changes something, or
// that is GraphQL for sure and cannot be read. One that does not begin as GraphQL,
// or has no keyword of a change, holds none, whatever it is: a search, PromQL.
func changingText(text string, sure bool) error {
	changes := strings.Contains(text, "mutation") || strings.Contains(text, "subscription")
	if !sure && (!changes || !looksGraphQL(text)) {
		return nil
	}
	if changes && strings.ContainsAny(text, "\x00\v\f\u0085\u2028\u2029") {
		return errors.New("it looks like GraphQL and holds characters that end a line, or the text, to some servers only")
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
	text = strings.TrimLeftFunc(text, func(r rune) bool { return r <= ' ' || r == ',' || r == '\ufeff' || unicode.IsSpace(r) })
	if text == "" || !strings.Contains(text, "{") {
		return false
	}
	word := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); i >= 0 {
		word = text[:i]
	}
	switch word {
	case "query", "mutation", "subscription", "fragment",
		"schema", "scalar", "type", "interface", "union", "enum", "input", "directive", "extend": // some servers read definitions before it
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
