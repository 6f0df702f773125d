package slackfake

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// answer is what Slack says to one request.
type answer struct {
	status int
	kind   string // of the body
	header http.Header
	body   []byte
	result string // "ok", or what was wrong, for Calls
}

func (a answer) accepted() bool { return a.result == resultOK }

const resultOK = "ok"

func (a answer) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that went away needs no answer
}

// object is JSON that is put together here.
type object = map[string]any

func document(result string, content object) answer {
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // a fault of the fake's own
	}
	return answer{status: http.StatusOK, kind: "application/json; charset=utf-8", body: body, result: result}
}

// done says yes.
func done(content object) answer {
	content["ok"] = true
	return document(resultOK, content)
}

// refused says no, as the Web API does: with status 200.
func refused(code string) answer { return document(code, object{"ok": false, "error": code}) }

// refusedBecause also says where the arguments are wrong.
func refusedBecause(code string, why []string) answer {
	tagged := make([]string, len(why))
	for i, text := range why {
		tagged[i] = "[ERROR] " + text
	}
	content := object{"ok": false, "error": code, "response_metadata": object{"messages": tagged}}
	if code == errBlocks {
		content["errors"] = why
	}
	return document(code+": "+strings.Join(why, "; "), content)
}

// page is an answer for people, or for a webhook.
func page(status int, text string) answer {
	a := answer{status: status, kind: "text/html", body: []byte(text), result: text}
	if status == http.StatusOK {
		a.result = resultOK
	}
	return a
}

// granted refuses what the app has no scope for.
func (f *Fake) granted(scope string) (answer, bool) {
	if slices.Contains(f.config.Scopes, scope) {
		return answer{}, true
	}
	return document("missing_scope", object{
		"ok": false, "error": "missing_scope", "needed": scope, "provided": strings.Join(f.config.Scopes, ","),
	}), false
}

// The errors that are named in more than one place.
const (
	errArguments = "invalid_arguments"
	errBlocks    = "invalid_blocks"
	errFormat    = "invalid_blocks_format"
	errChannel   = "channel_not_found"
)
