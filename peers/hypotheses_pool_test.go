//go:build peers

package peers

import (
	"testing"
	"time"

	"perch.example/lab"
)

// TestHypothesesOfThePool: the server closes what was idle for a second, and
// perch reuses a connection after two and a half. What that means to the
// application is a matter of its client's limits and of its retry list.
func TestHypothesesOfThePool(t *testing.T) {
	t.Parallel()
	var all []scenario
	for _, c := range pools() {
		c.want.reason, c.want.ends, c.want.closedBy = "idle_fin", "unknown", "peer"
		all = append(all, scenario{c.name, func(t *testing.T, p *subject) {
			serve(t, p, "incident", lab.Options{IdleTimeout: time.Second})
			p.probe, p.client = "kind: idle, keep_alive: 800ms, holds: [2500ms]", c.client
		}, []wanted{c.want}})
	}
	playAll(t, append(all, scenario{"closed early, no client declared", func(t *testing.T, p *subject) {
		serve(t, p, "incident", lab.Options{IdleTimeout: time.Second})
		p.probe = held("2500ms")
	}, []wanted{{
		reason: "idle_fin", verdict: "fail", diagnosis: "early_close", ends: "unknown", closedBy: "peer",
		ruled:    "out out out in out open",
		evidence: map[string]string{"stale_pool": `ended at (1(\.\d+)? s|9\d\d ms) idle`, "api_down": `fresh connection .*answered 200 in \d`},
	}}}))
}

// pool is a client and what is wanted of a close at 1 s, which its server had
// announced to be within its rights: only the client can make it a failure.
type pool struct {
	name, client string
	want         wanted
}

func pools() []pool {
	const (
		answers   = "org.springframework.web.client.HttpServerErrorException"
		wrapped   = answers + ", org.springframework.web.client.ResourceAccessException"
		completed = wrapped + ", org.apache.http.NoHttpResponseException"
	)
	band := map[string]string{"stale_pool": `ended at (1(\.\d+)? s|9\d\d ms) idle.* (1(\.\d+)? s|9\d\d ms) to 4 s`}
	with := func(more map[string]string) map[string]string {
		for id, e := range band {
			more[id] = e
		}
		return more
	}
	return []pool{
		{"the list lacks it, and the layer is inside", declaredApache("none", "inside", wrapped), wanted{
			verdict: "fail", diagnosis: "early_close", ruled: "out out out in out in",
			evidence: with(map[string]string{"retry_gap": "NoHttpResponseException.*inside", "own_pod": `at most \d`}),
		}},
		{"the same list around the wrapper", declaredApache("none", "around", wrapped), wanted{
			verdict: "degraded", diagnosis: "early_close", ruled: "out out out in out out",
			evidence: with(map[string]string{"retry_gap": "ResourceAccessException"}),
		}},
		{"the list holds it", declaredApache("none", "inside", completed), wanted{
			verdict: "degraded", diagnosis: "early_close", ruled: "out out out in out out",
			evidence: with(map[string]string{"retry_gap": "NoHttpResponseException"}),
		}},
		{"around, and only answers are listed", declaredApache("none", "around", answers), wanted{
			verdict: "fail", diagnosis: "early_close", ruled: "out out out in out in",
			evidence: with(map[string]string{"retry_gap": "ResourceAccessException.*around"}),
		}},
		// The client would not have used it: nothing is wrong.
		{"max_idle below the timeout", declaredApache("800ms", "inside", wrapped), wanted{verdict: "pass"}},
	}
}

// TestHypothesesOfAPoolThatStopsInTime: the server closes earlier than it
// should, which is a fault of its own, and the client stops even before that.
func TestHypothesesOfAPoolThatStopsInTime(t *testing.T) {
	t.Parallel()
	scenario{"", func(t *testing.T, p *subject) {
		serve(t, p, "incident", lab.Options{IdleTimeout: time.Second})
		p.probe, p.client = held("2500ms"), declaredApache("800ms", "inside", "java.net.SocketException")
	}, []wanted{{
		reason: "idle_fin", verdict: "fail", diagnosis: "early_close", ends: "unknown", closedBy: "peer",
		ruled: "out out out open out out",
		evidence: map[string]string{
			"stale_pool": `ended at (1(\.\d+)? s|9\d\d ms) idle.*no danger band`,
			"retry_gap":  "idle for 0.8 s",
		},
	}}}.play(t)
}
