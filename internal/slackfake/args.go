package slackfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// arguments are those of one call. Structures are JSON text.
type arguments struct {
	values map[string]string
	json   bool // they came as a JSON document, in which token is no argument
	// noCharset says that a JSON document came without its charset: Slack warns.
	noCharset bool
}

func (a arguments) get(name string) string { return a.values[name] }

// has reports whether an argument was given, be it empty.
func (a arguments) has(name string) bool { _, ok := a.values[name]; return ok }

// parse reads a request's arguments; the second value is Slack's error, empty
// when there is none.
func parse(r *http.Request, body []byte) (arguments, string) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		if len(body) == 0 {
			return arguments{values: map[string]string{}}, ""
		}
		return arguments{}, "missing_post_type"
	}
	kind, params, err := mime.ParseMediaType(header)
	if err != nil {
		return arguments{}, "invalid_post_type"
	}
	charset := strings.ToLower(params["charset"])
	if charset != "" && charset != "utf-8" && charset != "iso-8859-1" {
		return arguments{}, "invalid_charset"
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		return parseForm(body)
	case "multipart/form-data":
		return parseMultipart(body, params["boundary"])
	case "application/json":
		a, problem := parseJSON(body)
		a.noCharset = charset == ""
		return a, problem
	}
	return arguments{}, "invalid_post_type"
}

func parseForm(body []byte) (arguments, string) {
	form, err := url.ParseQuery(string(body))
	if err != nil || !utf8.Valid(body) {
		return arguments{}, "invalid_form_data"
	}
	return single(form)
}

func parseMultipart(body []byte, boundary string) (arguments, string) {
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(mostBody)
	if err != nil {
		return arguments{}, "invalid_form_data"
	}
	defer func() { _ = form.RemoveAll() }()
	return single(form.Value)
}

func single(form url.Values) (arguments, string) {
	a := arguments{values: map[string]string{}}
	for name, values := range form {
		if len(values) != 1 {
			return arguments{}, "invalid_array_arg"
		}
		if !utf8.ValidString(values[0]) {
			return arguments{}, "invalid_form_data"
		}
		a.values[name] = values[0]
	}
	return a, ""
}

func parseJSON(body []byte) (arguments, string) {
	if !json.Valid(body) || !utf8.Valid(body) {
		return arguments{}, "invalid_json"
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(body, &raw) != nil {
		return arguments{}, "json_not_object"
	}
	a := arguments{values: map[string]string{}, json: true}
	for name, value := range raw {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if string(value) != "null" {
			a.values[name] = text
		}
	}
	return a, ""
}

// token is the one that came with a request: in its header, or, for a form, as
// an argument.
func token(r *http.Request, a arguments) string {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return bearer
	}
	if a.json {
		return ""
	}
	return a.get("token")
}

// known remarks on arguments that the method does not have: Slack ignores them,
// and whoever sent them meant something.
func (f *Fake) known(method string, a arguments, names ...string) {
	for name := range a.values {
		if name != "token" && !slices.Contains(names, name) {
			f.remark("%s has no argument %q", method, name)
		}
	}
}

// remark notes what Slack lets pass and no program should send. The caller
// holds the lock.
func (f *Fake) remark(format string, args ...any) {
	f.remarks = append(f.remarks, fmt.Sprintf(format, args...))
}
