package report

import (
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// additions are the keys that the report has beyond the design's contract: adding
// breaks nobody, and once they are there they stay.
func additions() []string {
	return []string{
		"incidents", "incidents[].name", "incidents[].target", "incidents[].family", "incidents[].state", "incidents[].since",
		"incidents[].failed_runs", "incidents[].counted_runs", "incidents[].muted_until", "incidents[].notice", "incidents[].said",
		"outcomes[].attempts[].grpc", "outcomes[].attempts[].grpc.code", "outcomes[].attempts[].grpc.status",
		"outcomes[].attempts[].goaway", "outcomes[].attempts[].goaway.code", "outcomes[].attempts[].goaway.last_stream",
		"outcomes[].attempts[].goaway.debug", "outcomes[].attempts[].goaway.age_seconds",
		"outcomes[].attempts[].address", "outcomes[].attempts[].pinned_ip", "outcomes[].attempts[].pinned_ip.address", "outcomes[].attempts[].pinned_ip.now",
		"outcomes[].attempts[].min_rtt_seconds", "outcomes[].attempts[].tls_hello_seconds",
		"outcomes[].attempts[].request_bytes_acked_at_first_event", "outcomes[].attempts[].close_timing",
		"outcomes[].attempts[].delay_seconds", "outcomes[].attempts[].woke_late_seconds", "outcomes[].attempts[].waited_seconds",
		"outcomes[].attempts[].own_pod", "outcomes[].attempts[].own_pod.stalled_seconds", "outcomes[].attempts[].own_pod.throttled_seconds",
		"outcomes[].attempts[].own_pod.descriptors", "outcomes[].attempts[].own_pod.descriptors.used", "outcomes[].attempts[].own_pod.descriptors.limit",
		"outcomes[].attempts[].own_pod.ports", "outcomes[].attempts[].own_pod.ports.used", "outcomes[].attempts[].own_pod.ports.limit",
		"outcomes[].attempts[].own_pod.exhausted",
		"outcomes[].accepted", "outcomes[].accepted.until", "outcomes[].accepted.reason",
		"settled", "settled[].target", "settled[].times", "settled[].reason", "settled[].after_seconds",
		"outcomes[].path.by", "outcomes[].path.tcp_rtt_seconds", "outcomes[].path.tls_hello_seconds",
	}
}

// fullEvidence is a run whose one attempt has all the evidence that there is.
func fullEvidence() probes.Run {
	acked := int64(0)
	return probes.Run{RunID: "r", Outcomes: []probes.Outcome{{
		Target: "a", Probe: "b", Kind: probes.KindIdle, Verdict: probes.VerdictFail,
		Path: probes.Path{
			TCPEnds: probes.TCPEndsBeforePeer, Via: []string{"proxy"}, By: []string{"by its round trip: TCP 0.1 ms, TLS hello 6.2 ms"},
			TCPRTT: 100 * time.Microsecond, Hello: 6200 * time.Microsecond,
		},
		Attempts: []probes.Attempt{{
			Number: 1, Connection: probes.ConnectionReused, Reason: probes.ReasonCrossedClose, RequestBytes: 312, AckedAtFirst: &acked,
			GRPC: &probes.GRPCStatus{Code: 5, Name: "NOT_FOUND"}, Goaway: &probes.Goaway{Code: 11, LastStream: 1, Debug: "too_many_pings", Age: 3 * time.Second, Idle: true},
			MinRTT: 100 * time.Microsecond, Hello: 6200 * time.Microsecond,
			Address: netip.MustParseAddr("10.0.0.5"), PinnedIP: &probes.PinnedIP{Address: netip.MustParseAddr("10.0.0.5"), Now: []netip.Addr{netip.MustParseAddr("10.0.0.8")}},
			Delay: 3 * time.Second, DelayKnown: true, WokeLate: 3 * time.Second, Waited: 2 * time.Second,
			Own: &probes.OwnPod{
				Stalled: 3 * time.Second, Throttled: 2500 * time.Millisecond, ThrottledKnown: true,
				Descriptors: probes.Usage{Used: 64, Limit: 64}, Ports: probes.Usage{Used: 14, Limit: 28232}, Exhausted: probes.ResourceDescriptors,
			},
		}},
	}}}
}

func TestJSONEvidence(t *testing.T) {
	o := decoded(t, jsonText(t, fullEvidence()))["outcomes"].([]any)[0].(map[string]any)
	a := o["attempts"].([]any)[0].(map[string]any)
	own := a["own_pod"].(map[string]any)
	for key, got := range map[string][2]any{
		"acknowledged at first": {a["request_bytes_acked_at_first_event"], 0.0},
		"timing":                {a["close_timing"], "in_flight"},
		"gRPC's code":           {a["grpc"].(map[string]any)["code"], 5.0},
		"gRPC's status":         {a["grpc"].(map[string]any)["status"], "NOT_FOUND"},
		"GOAWAY's code":         {a["goaway"].(map[string]any)["code"], 11.0},
		"its last stream":       {a["goaway"].(map[string]any)["last_stream"], 1.0},
		"its words":             {a["goaway"].(map[string]any)["debug"], "too_many_pings"},
		"its age":               {a["goaway"].(map[string]any)["age_seconds"], 3.0},
		"address":               {a["address"], "10.0.0.5"},
		"pinned to":             {a["pinned_ip"].(map[string]any)["address"], "10.0.0.5"},
		"what DNS names":        {a["pinned_ip"].(map[string]any)["now"].([]any)[0], "10.0.0.8"},
		"round trip":            {a["min_rtt_seconds"], 0.0001},
		"hello":                 {a["tls_hello_seconds"], 0.0062},
		"delay":                 {a["delay_seconds"], 3.0},
		"throttled":             {own["throttled_seconds"], 2.5},
		"descriptors":           {own["descriptors"].(map[string]any)["used"], 64.0},
		"exhausted":             {own["exhausted"], "file descriptors"},
		"via by":                {o["path"].(map[string]any)["by"].([]any)[0], "by its round trip: TCP 0.1 ms, TLS hello 6.2 ms"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %v, want %v", key, got[0], got[1])
		}
	}
}

// A pod of which nothing was measured says nothing, and a measured 0 is one.
func TestJSONEvidenceUnknownIsAbsent(t *testing.T) {
	attempt := func(own *probes.OwnPod, known bool) []string {
		run := probes.Run{Outcomes: []probes.Outcome{{Attempts: []probes.Attempt{{DelayKnown: known, Own: own}}}}}
		got := map[string]bool{}
		keys(decoded(t, jsonText(t, run)), "", got, t)
		var added []string
		for _, k := range slices.Sorted(maps.Keys(got)) {
			if slices.Contains(additions(), k) {
				added = append(added, k)
			}
		}
		return added
	}
	const at = "outcomes[].attempts[]."
	for _, tt := range []struct {
		own   *probes.OwnPod
		known bool
		want  []string
	}{
		{nil, false, nil},
		{nil, true, []string{at + "delay_seconds"}},
		{&probes.OwnPod{}, false, []string{at + "own_pod"}},
		{&probes.OwnPod{ThrottledKnown: true}, false, []string{at + "own_pod", at + "own_pod.throttled_seconds"}},
	} {
		if got := attempt(tt.own, tt.known); !slices.Equal(got, tt.want) {
			t.Errorf("%+v, %v: %v, want %v", tt.own, tt.known, got, tt.want)
		}
	}
}
