package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// ruledTable is every failure as it is met for real: api_down, path_blocks,
// own_pod, stale_pool, rate_limit, retry_gap. The held one has a control that
// worked; the fresh one was not tried again. No client is declared. Empty: it
// cannot be met there.
func ruledTable() map[probes.Reason]struct{ held, fresh string } {
	return map[probes.Reason]struct{ held, fresh string }{
		"canceled": {"open open open open open open", "open open open open open open"},
		"skipped":  {"open open open open open open", "open open open open open open"},
		"internal": {"open open open open open open", "open open open open open open"},

		"dns":             {"", "open open out out out open"},
		"refused":         {"", "in open out out out open"},
		"connect_timeout": {"", "in open out out out open"},
		"connect_failed":  {"", "open open out out out open"},
		"proxy":           {"", "open open out out out open"},
		"certificate":     {"", "open open out out out open"},
		"tls":             {"", "in open out out out open"},

		"idle_goaway":       {"out out out in out open", ""},
		"idle_close_notify": {"out out out in out open", ""},
		"idle_bytes":        {"out out out in out open", ""},
		"idle_fin":          {"out out out in out open", ""},
		"idle_rst":          {"out open out in out open", ""},

		"blackhole":          {"out in out in out open", "in in out out out open"},
		"goaway_unprocessed": {"out out out in out open", "in out out out out open"},
		"refused_stream":     {"out out out out out open", "in out out out out open"},
		"goaway_processed":   {"out out out in out open", "in out out out out open"},
		"stream_reset":       {"out out out out out open", "in out out out out open"},
		"crossed_close":      {"out out out in out open", "in out out out out open"},
		"eof":                {"out out out in out open", "in out out out out open"},
		"reset":              {"out open out in out open", "in open out out out open"},
		"no_response":        {"out out out in out open", "in out out out out open"},
		"partial_head":       {"out out out in out open", "in out out out out open"},
		"partial_body":       {"out out out in out open", "in out out out out open"},
		"bad_response":       {"out out out in out open", "in out out out out open"},
		"too_large":          {"out out out out out open", "out out out out out open"},

		"proxy_upstream_reset": {"out open out out out open", "open open out out out open"},
		"rate_limited":         {"out out out out in open", "out out out out in open"},
		"unavailable":          {"out out out out out open", "in out out out out open"},
		"unauthorized":         {"out out out out out out", "out out out out out out"},
		"redirected":           {"out out out out out out", "out out out out out out"},
		"status":               {"out out out out out out", "out out out out out out"},
		"slow":                 {"out out out out out out", "out out out out out out"},
		"expectation":          {"out out out out out out", "out out out out out out"},
		"no_keep_alive":        {"", "out out out out out out"},
	}
}

// met gives an attempt what its reason leaves behind.
func met(a *probes.Attempt) {
	none := int64(0)
	all := a.RequestBytes
	switch a.Reason {
	case "rate_limited", "unavailable", "unauthorized", "redirected", "status", "slow", "expectation", "no_keep_alive", "proxy_upstream_reset":
		a.Status = map[probes.Reason]int{
			"rate_limited": 429, "unavailable": 503, "unauthorized": 403, "redirected": 302, "status": 404, "slow": 200,
			"expectation": 200, "no_keep_alive": 200, "proxy_upstream_reset": 503,
		}[a.Reason]
		a.ResponseBytes = 512
	case "partial_head", "partial_body", "bad_response", "too_large":
		a.ResponseBytes = 17
	case "idle_fin", "idle_rst", "idle_close_notify", "idle_bytes", "idle_goaway", "crossed_close", "blackhole", "reset":
		a.RequestBytesAcked, all = &none, 0
	case "dns", "refused", "connect_timeout", "connect_failed", "proxy", "certificate", "tls":
		a.RequestBytes, a.RequestBytesAcked, a.Started = 0, nil, time.Time{}
		a.Phases.Connect = 2 * time.Millisecond
		return
	default: // nothing but the acknowledgement
	}
	if a.RequestBytesAcked == nil {
		a.RequestBytesAcked = &all
	}
	if a.Reason == "no_response" || a.Reason == "blackhole" {
		a.Elapsed = 5 * time.Second
	}
}

// TestEveryReasonIsRuled: all six, as the table says, by sentences that are
// made of what was measured.
func TestEveryReasonIsRuled(t *testing.T) {
	table := ruledTable()
	for _, reason := range probes.Reasons() {
		if reason == probes.ReasonOK {
			continue
		}
		want, ok := table[reason]
		if !ok {
			t.Errorf("%s is not in the table", reason)
		}
		if want.held != "" {
			b := rungAt(0, 30*time.Second, reason).reuse(met)
			if how, ok := idleEnd()[reason]; ok {
				b.closed(20*time.Second, how)
			}
			b.o.Attempts[2].Started = endOf(b.o, b.o.Attempts[1]).Add(3 * time.Millisecond)
			ruledAs(t, fmt.Sprintf("%s, held", reason), own(one(b), 1, func(*probes.Attempt, *probes.OwnPod) {}), want.held)
		}
		if want.fresh != "" {
			in := httpInput(reason)
			in.Observations[0].Attempts[0].RequestBytes = 212
			met(&in.Observations[0].Attempts[0])
			ruledAs(t, fmt.Sprintf("%s, fresh", reason), own(in, 0, func(*probes.Attempt, *probes.OwnPod) {}), want.fresh)
		}
	}
}

func idleEnd() map[probes.Reason]probes.HowClosed {
	return map[probes.Reason]probes.HowClosed{
		"idle_goaway": "goaway", "idle_close_notify": "close_notify", "idle_bytes": "bytes", "idle_fin": "fin", "idle_rst": "rst",
	}
}

// ruledAs holds one input against the table, without a client and with the
// incident's, and behind a proxy, where nothing of the path may be concluded.
func ruledAs(t *testing.T, name string, in Input, want string) {
	t.Helper()
	o := judgeOne(t, in, 0)
	if got := rulings(o); got != want {
		t.Errorf("%s: ruled %s, want %s\n%s", name, got, want, sentences(o))
	}
	measured(t, name, o)
	measured(t, name+", with a client", judgeOne(t, withClient(in), 0))
	in.Observations = slices.Clone(in.Observations)
	in.Observations[0].Path = probes.Path{TCPEnds: probes.TCPEndsBeforePeer, Via: []string{"mesh sidecar"}, By: []string{"declared"}}
	proxied := judgeOne(t, in, 0)
	measured(t, name+", behind a proxy", proxied)
	if h := hypothesis(proxied, "path_blocks"); h.Ruled != probes.RuledOpen && o.Reason != probes.ReasonNoKeepAlive && o.Reason != probes.ReasonSlow {
		t.Errorf("%s, behind a proxy: path_blocks is %s: %s", name, h.Ruled, h.Evidence)
	}
}

func rulings(o probes.Outcome) string {
	var words []string
	for _, h := range o.Hypotheses {
		words = append(words, string(h.Ruled))
	}
	return strings.Join(words, " ")
}

func sentences(o probes.Outcome) string {
	var lines []string
	for _, h := range o.Hypotheses {
		lines = append(lines, fmt.Sprintf("  %s %s: %s", h.ID, h.Ruled, h.Evidence))
	}
	return strings.Join(lines, "\n")
}

// measured: each sentence holds a number with what it counts, or names the
// error, the reason or the client that it is about; none is too long to read.
func measured(t *testing.T, name string, o probes.Outcome) {
	t.Helper()
	allSix(t, name, o)
	values := regexp.MustCompile(`\d+(\.\d+)? (ms|s|min|of|bytes|requests?|answers?|in)\b|answered \d{3}|(\w+\.){2}\w+|lacks (408|429|503)|declared\)|is not known: no client|HttpClient 4\.5`)
	for _, h := range o.Hypotheses {
		if !values.MatchString(h.Evidence) {
			t.Errorf("%s: %s holds no value: %q", name, h.ID, h.Evidence)
		}
		if len(h.Evidence) > 170 && h.ID != "retry_gap" {
			t.Errorf("%s: %s is %d characters long: %q", name, h.ID, len(h.Evidence), h.Evidence)
		}
	}
}
