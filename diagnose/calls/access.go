package calls

import (
	"slices"
	"strings"
	"time"
)

// commonForm is an access log in common or combined format, whatever stands behind it.
type commonForm struct{}

func (commonForm) says() string { return "an access log in common or combined format" }

const commonTime = "02/Jan/2006:15:04:05 -0700"

func (commonForm) read(line string) (made, bool) {
	at, rest, ok := bracketed(line, commonTime, time.RFC3339)
	if !ok {
		return made{}, false
	}
	before, words := fromRequest(wordsOf(rest))
	m := made{at: at, ends: true, failed: unansweredAt(words)}
	m.took, m.noUnit = commonTook(words, before)
	return m, true
}

// fromRequest parts the numbers that stand between the time and the request (Apache's %D, in a format such
// as %t %D "%r" %>s) from all else.
func fromRequest(words []word) (numbers, request []word) {
	i := slices.IndexFunc(words, func(w word) bool {
		_, number := tookOf(w.text, time.Nanosecond)
		return w.quoted || !number
	})
	if i < 0 || !words[i].quoted {
		return nil, words
	}
	return words[:i], words[i:]
}

// bracketed is the first time of a line in [] that has one of these layouts, and what stands
// behind it. Others may stand before it: an address such as [::1], a process.
func bracketed(line string, layouts ...string) (int64, string, bool) {
	for rest := line; ; {
		_, after, found := strings.Cut(rest, "[")
		if !found {
			return 0, "", false
		}
		inside, behind, closed := strings.Cut(after, "]")
		if !closed {
			return 0, "", false
		}
		for _, layout := range layouts {
			if at, err := time.Parse(layout, inside); err == nil {
				ns, ok := nanos(at)
				return ns, behind, ok
			}
		}
		rest = after
	}
}

// word is a part of a line, between spaces or in quotes.
type word struct {
	text   string
	quoted bool
}

// wordsOf are a line's words. In quotes a backslash escapes what follows it.
func wordsOf(line string) []word {
	var all []word
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " \t") {
		end, quoted, escaped := 0, false, false
		for ; end < len(line); end++ {
			c := line[end]
			if !quoted && (c == ' ' || c == '\t') {
				break
			}
			if c == '"' && !escaped {
				quoted = !quoted
			}
			escaped = quoted && c == '\\' && !escaped
		}
		all = append(all, word{line[:end], line[0] == '"'})
		line = line[end:]
	}
	return all
}

// commonTook is how long a call took, by what stands behind the time: the request, status and bytes,
// in the combined format referer and user agent, and what the log's owner added, there or before the
// request. Sure are nginx's $request_time by its name or its three decimals, and what has its own unit
// (Traefik's 12ms). A whole number is none: it may be Apache's %D (us) or %T (s), Tomcat's %D (ms or
// us), a length. True: there is only such a one.
func commonTook(words, before []word) (time.Duration, bool) {
	const request, fields, agent = 1, 3, 5
	if len(words) <= request {
		return -1, false
	}
	known := min(fields, len(words))
	if len(words) >= agent && words[3].quoted && words[4].quoted {
		known = agent
	}
	added := slices.Concat(before, words[known:])
	for _, w := range words[request:] {
		for _, name := range []string{"rt=", "request_time="} {
			if text, named := strings.CutPrefix(w.text, name); named {
				return orUnknown(tookOf(text, time.Second))
			}
		}
	}
	unsure := false
	for _, unit := range []func(string) time.Duration{ownUnit, threeDecimals} {
		for _, w := range added {
			if took, ok := tookOf(w.text, unit(w.text)); ok && !w.quoted {
				return took, false
			}
		}
	}
	for _, w := range added {
		_, number := tookOf(w.text, time.Nanosecond)
		unsure = unsure || number && !w.quoted
	}
	return -1, unsure
}

// ownUnit is none: what a text says must have its own.
func ownUnit(string) time.Duration { return 0 }

// threeDecimals are how nginx writes seconds.
func threeDecimals(text string) time.Duration {
	if _, part, _ := strings.Cut(text, "."); len(part) == 3 {
		return time.Second
	}
	return 0
}

func orUnknown(took time.Duration, ok bool) (time.Duration, bool) {
	if !ok {
		return -1, false
	}
	return took, false
}

// envoyForm is Envoy's own text format, and Istio's: the call's beginning in [], and its
// duration in ms as the third of the numbers behind what it says of the response.
type envoyForm struct{}

func (envoyForm) says() string { return "Envoy's access log" }

func (envoyForm) read(line string) (made, bool) {
	if !strings.HasPrefix(line, "[") {
		return made{}, false
	}
	at, rest, ok := bracketed(line, time.RFC3339)
	words := wordsOf(rest)
	if !ok || len(words) < 6 || !words[0].quoted {
		return made{}, false
	}
	m := made{at: at, took: -1, failed: unansweredAt(words) || flagged(words[2].text)}
	numbers := 0 // in a row: bytes received, bytes sent, duration
	for _, w := range words[3:] {
		took, number := tookOf(w.text, time.Millisecond)
		if numbers++; !number || w.quoted {
			numbers = 0
		}
		if numbers == 3 {
			m.took = took
			break
		}
	}
	return m, true
}

// haproxyForm is HAProxy's HTTP format: the call's beginning in [], without a zone, and
// five times in ms, the last one the whole.
type haproxyForm struct{}

func (haproxyForm) says() string { return "HAProxy's HTTP log" }

func (haproxyForm) read(line string) (made, bool) {
	at, rest, ok := bracketed(line, "02/Jan/2006:15:04:05.000")
	if !ok {
		return made{}, false
	}
	m := made{at: at, took: -1}
	if words := wordsOf(rest); len(words) > 2 {
		if times := strings.Split(words[2].text, "/"); len(times) == 5 && !strings.HasPrefix(times[4], "+") { // logged before its end
			m.took, _ = orUnknown(tookOf(times[4], time.Millisecond))
		}
		m.failed = len(words) > 3 && unanswered(words[3].text)
	}
	return m, true
}

// elbForm is the log of an AWS load balancer: of an Application Load Balancer the type, the
// answer's time, balancer, client, target, three times in seconds that follow each other, and the
// balancer's and the target's status; a Classic one has no type, and the time of the call.
type elbForm struct{}

func (elbForm) says() string { return "an AWS load balancer's access log" }

func (elbForm) read(line string) (made, bool) {
	words := wordsOf(line)
	m := made{}
	if len(words) > 0 && strings.Trim(words[0].text, "abcdefghijklmnopqrstuvwxyz2") == "" { // http, https, h2, grpcs, ws, wss
		m.ends, words = true, words[1:]
	}
	if len(words) < 9 {
		return made{}, false
	}
	at, ok := timeOf(words[0].text)
	if !ok || !strings.Contains(words[2].text, ":") {
		return made{}, false
	}
	m.at, m.failed = at, unanswered(words[7].text) || unanswered(words[8].text)
	for _, w := range words[4:7] { // -1: it did not get so far
		part, ok := tookOf(w.text, time.Second)
		if !ok {
			m.took = -1
			return m, true
		}
		m.took += part
	}
	return m, true
}
