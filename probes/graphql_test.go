package probes

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

func judged(t *testing.T, address, contentType, body string) error {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	method := http.MethodPost
	if body == "" && contentType == "" {
		method = http.MethodGet
	}
	return ChangesNothing(method, u, h, []byte(body))
}

func TestChangesNothing(t *testing.T) {
	const (
		rest, graphql = "https://api.example/v1/search", "https://api.example/graphql"
		isJSON, form  = "application/json", "application/x-www-form-urlencoded"
	)
	for _, c := range []struct{ name, url, kind, body, refused string }{
		{"no body", rest, "", "", ""},
		{"a search", rest, isJSON, `{"query":"blue shoes"}`, ""},
		{"a hashtag", rest, isJSON, `{"query":"#mutation"}`, ""},
		{"a search for the word", rest, isJSON, `{"query":"mutation of genes {x"}`, "cannot be read"},
		{"the word within", rest, isJSON, `{"query":"gene mutation {x}"}`, ""},
		{"Elasticsearch", rest, isJSON, `{"query":{"match":{"type":"mutation"}},"id":1}`, ""},
		{"JSON in a parameter", rest + "?filter=%7B%22type%22:%22mutation%22%7D&id=1", "", "", ""},
		{"JSON in a text", rest, isJSON, `{"filter":"{\"type\":\"mutation\"}"}`, ""},
		{"JSON-RPC", rest, isJSON, `{"jsonrpc":"2.0","method":"search","params":["a"],"id":1}`, ""},
		{"a parameter that is no override", rest + "?method=list&http_method=GET", "", "", ""},
		{"its many searches", rest, "application/x-ndjson", "{}\n{\"query\":{\"match_all\":{}}}\n", ""},
		{"SQL", rest, isJSON, `{"query":"SELECT 1"}`, ""},
		{"PromQL", rest, form, `query=up%7Bjob%3D%22mutation%22%7D&time=1`, ""},
		{"PromQL without a name", rest, form, `query=%7Bjob%3D%22a%22%7D`, ""},
		{"text", rest, "text/plain", "mutation of genes", ""},
		{"a query", graphql, isJSON, `{"query":"query Q($a: Int) { a(b: $a) { mutation } }","variables":{"a":1}}`, ""},
		{"in short", graphql, isJSON, `{"query":"{ __schema { mutationType { name } subscriptionType { name } } }"}`, ""},
		{"with fragments", graphql, isJSON, `{"query":"{ ...f } fragment f on Query { a }"}`, ""},
		{"a batch of queries", graphql, isJSON, `[{"query":"{a}"},{"query":"{b}"}]`, ""},
		{"a query in the URL of a GET", graphql + "?query=%7Ba%7D&variables=%7B%22id%22:1%7D", "", "", ""},
		{"in the URL of a POST without a body", graphql + "?query=%7Ba%7D", isJSON, "", ""},
		{"a query in a form", graphql, form, "query=%7Ba(b:%22x%3By%22)%7D&variables=%7B%7D", ""},
		{"a page beside it", graphql + "-docs?page=2", "", "", ""},
		{"as GraphQL", rest, "application/graphql", "{ a }", ""},
		{"with a charset", graphql, isJSON + "; charset=UTF-8", `{"query":"{a}"}`, ""},

		{"a mutation", rest, isJSON, `{"query":"mutation { a }"}`, "a GraphQL mutation"},
		{"a subscription", rest, isJSON, `{"query":"subscription { a }"}`, "a GraphQL subscription"},
		{"beside a query that is named", graphql, isJSON, `{"query":"query A {a} mutation B {b}","operationName":"A"}`, "mutation"},
		{"behind a comment", rest, isJSON, `{"query":"# mutation\r\n,\ufeff mutation { a }"}`, "mutation"},
		{"behind a comment that ends with CR", rest, isJSON, `{"query":"{a} # {\rmutation { a }"}`, "mutation"},
		{"behind a description", rest, isJSON, `{"query":"\"what\" mutation { a }"}`, "mutation"},
		{"escaped", rest, isJSON, `{"query":"\u006dutation\u007b a }"}`, "mutation"},
		{"in a batch", graphql, isJSON, `[{"query":"{a}"},{"query":"mutation {b}"}]`, "mutation"},
		{"behind a batch", rest, isJSON, `[] [{"query":"mutation {b}"}]`, "mutation"},
		{"twice, the first", rest, isJSON, `{"query":"mutation {a}","query":"{a}"}`, "mutation"},
		{"twice, the last", rest, isJSON, `{"query":"{a}","query":"mutation {a}"}`, "mutation"},
		{"in another case", rest, isJSON, `{"Query":"mutation {a}"}`, "mutation"},
		{"behind a byte order mark", rest, isJSON, "\ufeff" + `{"query":"mutation {a}"}`, "mutation"},
		{"of no type", rest, "", `{"query":"mutation {a}"}`, "mutation"},
		{"of another type", rest, "text/plain", `{"query":"mutation {a}"}`, "mutation"},
		{"as text", rest, "text/plain", `mutation {a}`, "mutation"},
		{"as GraphQL, a mutation", rest, "application/graphql; charset=utf-8", "mutation { a }", "mutation"},
		{"in a form", rest, form, "a=b&query=mutation+%7Ba%7D", "mutation"},
		{"in a form's list", rest, form, "QUERY[0]=mutation%7Ba%7D", "mutation"},
		{"in the URL", rest + "?query=mutation%7Ba%7D", "", "", "query parameters: it holds a GraphQL mutation"},
		{"in the URL of a POST", graphql + "?query=mutation%7Ba%7D", isJSON, `{"query":"{a}"}`, "mutation"},
		{"in a URL that is half escaped", graphql + "?query=mutation{a(b:%22%zz%22)}", "", "", "cannot be read"},

		{"broken", rest, isJSON, `{"query":"query { a"}`, "cannot be read, line 1"},
		{"broken, in the URL", graphql + "?query={a", "", "", "cannot be read"},
		{"only fragments", graphql, isJSON, `{"query":"fragment f on Query { a }"}`, "no GraphQL operation"},
		{"no text", graphql, isJSON, `{"operationName":"A"}`, "no query's text"},
		{"persisted", rest, isJSON, `{"extensions":{"persistedQuery":{"sha256Hash":"x"}}}`, "persisted query"},
		{"persisted, an empty text", rest, isJSON, `{"query":"","extensions":{"PersistedQuery":{}}}`, "persisted query"},
		{"no JSON", rest, isJSON, `{"query":"{a}",}`, "no JSON"},
		{"several parts", rest, "multipart/form-data; boundary=x", "--x", "several parts"},
		{"another charset", rest, isJSON + "; charset=utf-16", `{}`, "charset"},
		{"a type that is none", rest, "a/b/c; =", `{}`, "Content-Type"},
		{"deep", rest, isJSON, `{"query":"` + strings.Repeat("{a", 3000) + `"}`, "cannot be read"},
		{"long", rest, isJSON, `{"query":"{` + strings.Repeat("a ", mostTokens) + `}"}`, "cannot be read"},
	} {
		err := judged(t, c.url, c.kind, c.body)
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.refused)
		}
	}
}

func TestHiddenBodyIsRefused(t *testing.T) {
	err := ChangesNothing("POST", &url.URL{Path: "/"}, http.Header{"Content-Encoding": {"gzip"}}, []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "Content-Encoding") {
		t.Error(err)
	}
}

// FuzzChangesNothing: nothing panics, no error tells of the body, and what passes
// as a query's text is no document with a change in it.
func FuzzChangesNothing(f *testing.F) {
	for _, text := range []string{"{zqa}", "mutation {zqa}", "query A {a} # \r mutation B {zqb}", `"""zq""" mutation {a}`, "fragment f on zq {a}", "zq {job=\"mutation\"}", "{a(b:\"zq\\u007b\")}"} {
		for _, kind := range []string{"", "application/json", "application/graphql", "application/x-www-form-urlencoded", "text/plain"} {
			f.Add(kind, "/graphql", []byte(text))
			wrapped, _ := json.Marshal(map[string]any{"query": text, "extensions": map[string]any{"persistedQuery": 1}})
			f.Add(kind, "/v1?query="+url.QueryEscape(text), wrapped)
		}
	}
	f.Fuzz(func(t *testing.T, kind, address string, body []byte) {
		u, err := url.Parse(address)
		if err != nil {
			return
		}
		h := http.Header{"Content-Type": {kind}}
		if err := ChangesNothing("POST", u, h, body); err != nil && strings.Contains(err.Error(), "zq") {
			t.Errorf("tells of the body: %v", err)
		}
		text := strings.ToValidUTF8(string(body), "")
		wrapped, err := json.Marshal(map[string]string{"query": text})
		if err != nil || ChangesNothing("POST", u, http.Header{"Content-Type": {"application/json"}}, wrapped) != nil {
			return
		}
		doc, err := parser.ParseQuery(&ast.Source{Input: text})
		if err != nil {
			return
		}
		for _, op := range doc.Operations {
			if op.Operation != ast.Query {
				t.Errorf("passed: a %s in %q", op.Operation, text)
			}
		}
	})
}
