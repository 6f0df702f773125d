package probes

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ChangesNothing refuses a request that may be carried out as a change, or of which
// perch cannot tell: a GraphQL mutation or subscription in its body or in a query
// parameter, also beside queries, since the operation's name may come from elsewhere;
// GraphQL that the server knows by a name alone; another method in a parameter. What
// one server reads strictly and another leniently is judged in each way. The config
// asks it of what is written there, and a probe again of what it sends, right before
// the first byte. Its errors hold nothing of what was sent, which may be a secret.
func ChangesNothing(method string, u *url.URL, header http.Header, body []byte) error {
	r := request{header: header, sure: graphQLPath(u)}
	inURL, err := r.parameters(u.RawQuery, true)
	if err != nil {
		return fmt.Errorf("its query parameters: %w", err)
	}
	if len(body) > 0 {
		if err := r.judge(body); err != nil {
			return fmt.Errorf("its body: %w", err)
		}
		return nil
	}
	if r.sure && method == http.MethodPost && !inURL {
		return errNoText
	}
	return nil
}

var (
	errNoText    = errors.New("it holds no query's text, so that perch cannot tell what it does")
	errPersisted = errors.New("it names a persisted query, of which perch cannot tell what it does; want its text under query, and no name")
	errUnclear   = errors.New("it is nested or escaped so deeply that perch cannot tell what it does")
)

// graphQLPath reports whether a path says of itself that GraphQL is served there.
func graphQLPath(u *url.URL) bool {
	return slices.ContainsFunc(words(u.Path), func(w string) bool {
		return strings.Contains(w, "graphql") || strings.HasSuffix(w, "gql")
	})
}

// naming reports whether a member or parameter of GraphQL stands for a text that the
// server has. Where both are there, some servers take that.
func naming(name string) bool {
	switch folded(name) {
	case "id", "docid", "documentid", "queryid", "operationid", "hash", "sha256hash", "queryhash", "documenthash", "operationhash", "persistedquery", "persistedqueryid":
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
		return r.form(body)
	}
	err = r.judgeJSON(body)
	var no *notJSON
	switch {
	case !errors.As(err, &no):
		return err
	case kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json"):
		return errors.New("it is no JSON, although its Content-Type says so")
	}
	if _, err := r.parameters(string(body), false); err != nil { // some do not mind its type
		return err
	}
	return changingText(string(body), r.sure)
}
