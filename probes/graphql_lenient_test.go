package probes

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestEveryReadingIsJudged: what one server reads strictly and another leniently is
// refused if either finds a change in it, and so is what nobody can tell.
func TestEveryReadingIsJudged(t *testing.T) {
	const (
		rest, graphql = "https://api.example/v1/search", "https://api.example/graphql"
		isJSON, form  = "application/json", "application/x-www-form-urlencoded"
		hash          = `{"persistedQuery":{"version":1,"sha256Hash":"ab"}}`
	)
	inURL := url.QueryEscape(hash)
	for _, c := range []struct{ name, url, kind, body, refused string }{
		{"an escape that is none", graphql, form, "query=mutation%20%7Ba%7D%23%zz", "escapes nothing"},
		{"an escape of IIS", rest, form, "query=%u006dutation%7Ba%7D", "escapes nothing"},
		{"a semicolon", rest, form, "a=1;query=mutation%7Ba%7D", "mutation"},
		{"a semicolon in the URL", rest + "?a=1;query=mutation%7Ba%7D", "", "", "mutation"},
		{"a space before the name", rest, form, "%20query=mutation%7Ba%7D", "mutation"},
		{"a plus before the name", graphql, form, "+query=mutation%7Ba%7D", "mutation"},
		{"a NUL behind the name", graphql, form, "query%00=mutation%7Ba%7D", "mutation"},
		{"under another name", rest, form, "doc=mutation%7Ba%7D", "mutation"},
		{"below a name", rest, form, "operations[0][query]=mutation%7Ba%7D", "mutation"},
		{"JSON in a parameter", rest, form, "operations=" + url.QueryEscape(`{"query":"mutation{a}"}`), "mutation"},
		{"JSON in a form", rest, form, `{"query":"mutation{a}"}`, "GraphQL"},
		{"a form of another type", rest, "text/plain", "query=mutation%7Ba%7D", "mutation"},
		{"a form without a text", graphql, form, "variables=%7B%7D", "no query's text"},

		{"persisted in a form", graphql, form, "extensions=" + inURL, "persisted query"},
		{"persisted in a form's list", rest, form, "extensions[persistedQuery][sha256Hash]=ab", "persisted query"},
		{"named in a form", graphql, form, "doc_id=123&variables=%7B%7D", "persisted query"},
		{"persisted in the URL of a POST", graphql + "?extensions=" + inURL, isJSON, "", "persisted query"},
		{"persisted in the URL of a GET", graphql + "?extensions=" + inURL, "", "", "persisted query"},
		{"named in the URL", graphql + "?documentId=a", "", "", "persisted query"},
		{"a POST of nothing", graphql, isJSON, "", "no query's text"},
		{"a hash beside a text", graphql, isJSON, `{"query":"{a}","extensions":` + hash + `}`, "persisted query"},
		{"a name beside a text", rest, isJSON, `{"query":"{a}","documentId":"y"}`, "persisted query"},
		{"a name beside a text, for sure", graphql, isJSON, `{"id":"y","query":"{a}"}`, "persisted query"},

		{"behind a type", rest, isJSON, `{"query":"type A{b:C} mutation{a}"}`, "cannot be read"},
		{"behind a directive", rest, isJSON, `{"query":"directive @a on FIELD mutation{a}"}`, "cannot be read"},
		{"behind a space of another alphabet", rest, isJSON, `{"query":"\u00a0mutation{a}"}`, "cannot be read"},
		{"behind a line's end of old", rest, isJSON, `{"query":"{a} #\u2028mutation{a}"}`, "to some servers only"},
		{"under another key", rest, isJSON, `{"doc":"mutation{a}"}`, "mutation"},
		{"in an object", rest, isJSON, `{"payload":{"query":"mutation{a}"}}`, "mutation"},
		{"in a list of lists", rest, isJSON, `[[{"query":"mutation{a}"}]]`, "mutation"},
		{"in JSON in a text", rest, isJSON, `{"body":"{\"query\":\"mutation{a}\"}"}`, "mutation"},
		{"a text alone", rest, isJSON, `"mutation{a}"`, "mutation"},
		{"a list of lists, for sure", graphql, isJSON, `[[{"query":"{a}"}]]`, "no query's text"},
		{"a text alone, for sure", graphql, isJSON, `"{a}"`, "no query's text"},
		{"an empty list", graphql, isJSON, `[]`, "no query's text"},
		{"a number", graphql, isJSON, `123`, "no query's text"},
		{"nested without an end", rest, isJSON, strings.Repeat("[", 200) + strings.Repeat("]", 200), "so deeply"},
		{"a version", "https://api.example/graphql/v1", isJSON, `{"id":"y"}`, "persisted query"},
		{"an ending", "https://api.example/api/graphql.json", isJSON, `{}`, "no query's text"},
		{"a prefix", "https://api.example/pgql", isJSON, `{}`, "no query's text"},

		{"a method in a form", rest, form, "_method=delete", "another method"},
		{"a method in a form, for PHP", rest, form, "+.method=delete", "another method"},
		{"a method in a form, for Rack", rest, form, "[_METHOD]=delete", "another method"},
		{"a method in the URL", rest + "?a=b&_method=DELETE", "", "", "another method"},
		{"a header's name in the URL", rest + "?X-HTTP-Method-Override=DELETE", "", "", "another method"},
		{"a method in JSON", rest, isJSON, `{"_method":"DELETE"}`, "another method"},
	} {
		err := judged(t, c.url, c.kind, c.body)
		if err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", c.name, err, c.refused)
		}
	}
}

func TestOverridesMethod(t *testing.T) {
	for name, want := range map[string]bool{
		"X-HTTP-Method-Override": true, "x-http-method": true, "X-Method-Override": true, "X_HTTP_Method_Override": true,
		"X-Http-Methods": false, "Accept": false,
	} {
		if got := OverridesMethod(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if err := overridesMethod(http.Header{name: {"DELETE"}}); (err != nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
