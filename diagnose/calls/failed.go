package calls

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// saysFailed reports whether a word is how a list of times says of a call that it failed.
func saysFailed(word string) bool { return strings.EqualFold(word, "failed") }

// unanswered reports whether a status says that the server itself did not answer: there is none, the
// client left (nginx's 499), or what is before the server spoke for it.
func unanswered(status string) bool {
	switch status {
	case "-", "-1", "0", "000", "499", "502", "503", "504":
		return true
	}
	return false
}

// flagged reports whether any of Envoy's response flags, such as UF,URX, says that the upstream's
// connection or its answer failed, or that the client left. The others are of calls that were
// answered: late (DI), from a cache (RFCF), or by Envoy itself with a status that it was told (FI, RL).
func flagged(flags string) bool {
	return slices.ContainsFunc(strings.Split(strings.Trim(flags, `"`), ","), brokenFlag)
}

// brokenFlag knows such a flag by both names that Envoy has for it: %RESPONSE_FLAGS% and
// %RESPONSE_FLAGS_LONG% of its access log.
func brokenFlag(flag string) bool {
	switch flag {
	case "UF", "UC", "UH", "UO", "UR", "URX", "UT", "UPE", "UMSDR", "LR", "NC", "DF", "DC", "DR", "DT", "SI", "OM", "DO",
		"UpstreamConnectionFailure", "UpstreamConnectionTermination", "NoHealthyUpstream", "UpstreamOverflow",
		"UpstreamRemoteReset", "UpstreamRetryLimitExceeded", "UpstreamRequestTimeout", "UpstreamProtocolError",
		"UpstreamMaxStreamDurationReached", "LocalReset", "NoClusterFound", "DnsResolutionFailed",
		"DownstreamConnectionTermination", "DownstreamRemoteReset", "DurationTimeout", "StreamIdleTimeout",
		"OverloadManagerTerminated", "DropOverload":
		return true
	}
	return false
}

// unansweredAt reports it of the status behind a request, which is quoted.
func unansweredAt(words []word) bool {
	return len(words) > 1 && words[0].quoted && unanswered(words[1].text)
}

// statusNames are the usual names of an answer's status.
func statusNames() []string {
	return []string{
		"status", "status_code", "statusCode", "response_code", "responseCode", "http_status",
		"http.response.status_code", "DownstreamStatus", "res.statusCode", "code", // ECS, Traefik, pino
	}
}

// failed reports whether an object says that the server did not answer. An answer's status goes before one
// that says that there is none (0 may be an application's own), and before an error: an application calls
// a 404 one, too.
func (o object) failed() bool {
	if flagged(scalar(o["response_flags"])) || flagged(scalar(o["response_flags_long"])) {
		return true
	}
	none := false
	for _, name := range statusNames() {
		status := statusOf(scalar(o.value(name)))
		if name == "code" && len(status) != 3 {
			continue // 0 is OK in gRPC, and in many an application
		}
		if n, err := strconv.Atoi(status); err == nil && n >= 100 && n < 600 {
			return unanswered(status)
		}
		none = none || unanswered(status)
	}
	return none || slices.ContainsFunc([]string{"error", "err", "exception", "error.message"}, func(name string) bool {
		return saysError(o.value(name))
	})
}

// statusOf is the status of 502, 502.0, "502 Bad Gateway" and "HTTP/1.1 502 Bad Gateway".
func statusOf(text string) string {
	words := strings.Fields(text)
	if len(words) > 1 && strings.HasPrefix(words[0], "HTTP/") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return strings.TrimSuffix(words[0], ".0")
}

// saysError reports whether a field of an error holds one.
func saysError(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	var value any
	return json.Unmarshal(raw, &value) != nil || isError(value) // what is too large for a number is not 0
}

// isError reports whether a value is more than the ways in which languages write that there is no error.
func isError(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "", "-", "0", "false", "nil", "<nil>", "none", "null", "undefined", "{}", "[]", "no error", "ok", "success":
			return false
		}
		return true
	case []any:
		return slices.ContainsFunc(v, isError)
	case map[string]any:
		for _, within := range v {
			if isError(within) {
				return true
			}
		}
	}
	return false
}
