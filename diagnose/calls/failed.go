package calls

import (
	"encoding/json"
	"strconv"
	"strings"
)

// failedWord is how a list of times says of a call that it failed.
const failedWord = "failed"

// unanswered reports whether a status says that the server itself did not answer: there is none, the
// client left (nginx's 499), or what is before the server spoke for it.
func unanswered(status string) bool {
	switch status {
	case "-", "-1", "0", "000", "499", "502", "503", "504":
		return true
	}
	return false
}

// flagged reports whether Envoy's response flags, such as UC or UF,URX, say anything: the server did not
// answer, or not at once.
func flagged(flags string) bool {
	return flags != "" && strings.Trim(flags, "ABCDEFGHIJKLMNOPQRSTUVWXYZ,") == ""
}

// unansweredAt reports it of the status behind a request, which is quoted.
func unansweredAt(words []word) bool {
	return len(words) > 1 && words[0].quoted && unanswered(words[1].text)
}

// statusNames are the usual names of an answer's status.
func statusNames() []string {
	return []string{
		"status", "status_code", "statusCode", "response_code", "responseCode", "http_status",
		"http.response.status_code", "DownstreamStatus", "code", // ECS, Traefik
	}
}

// failed reports whether an object says that the server did not answer. A status goes before an error: an
// application calls a 404 one, too.
func (o object) failed() bool {
	if flagged(scalar(o["response_flags"])) {
		return true
	}
	for _, name := range statusNames() {
		status, _, _ := strings.Cut(scalar(o[name]), " ") // 502 Bad Gateway
		if name == "code" && len(status) != 3 {
			continue // 0 is OK in gRPC, and in many an application
		}
		if unanswered(status) {
			return true
		}
		if n, err := strconv.Atoi(status); err == nil && n >= 100 && n < 600 {
			return false
		}
	}
	for _, name := range []string{"error", "err", "exception", "error.message"} {
		if saysError(o[name]) {
			return true
		}
	}
	return false
}

// saysError reports whether a field of an error holds one.
func saysError(raw json.RawMessage) bool {
	switch strings.Trim(string(raw), `"`) {
	case "", "-", "null", "false", "0", "{}", "[]":
		return false
	}
	return true
}
