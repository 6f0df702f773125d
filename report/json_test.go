package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func jsonText(t *testing.T, run probes.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJSONGolden(t *testing.T) {
	for name, run := range runs() {
		t.Run(name, func(t *testing.T) { golden(t, name+".json", jsonText(t, run)) })
	}
}

// contract is every key of the JSON report, as the design's contract lists them.
func contract() []string {
	return []string{
		"version", "name", "run_id", "seed", "vantage", "started_at", "finished_at", "verdict",
		"outcomes", "outcomes[].target", "outcomes[].probe", "outcomes[].kind", "outcomes[].verdict",
		"outcomes[].reason", "outcomes[].diagnosis", "outcomes[].message", "outcomes[].hold_seconds",
		"outcomes[].closed_after_seconds", "outcomes[].closed_by",
		"outcomes[].attempts", "outcomes[].attempts[].number", "outcomes[].attempts[].connection",
		"outcomes[].attempts[].reason", "outcomes[].attempts[].status", "outcomes[].attempts[].elapsed_seconds",
		"outcomes[].attempts[].phases", "outcomes[].attempts[].phases.dns", "outcomes[].attempts[].phases.connect",
		"outcomes[].attempts[].phases.tls", "outcomes[].attempts[].phases.wait", "outcomes[].attempts[].phases.transfer",
		"outcomes[].attempts[].rtt_seconds", "outcomes[].attempts[].idle_seconds", "outcomes[].attempts[].request_bytes",
		"outcomes[].attempts[].request_bytes_acked", "outcomes[].attempts[].response_bytes", "outcomes[].attempts[].local_addr",
		"outcomes[].attempts[].remote_addr", "outcomes[].attempts[].proto", "outcomes[].attempts[].trace_id",
		"outcomes[].attempts[].span_id",
		"outcomes[].path", "outcomes[].path.tcp_ends", "outcomes[].path.via",
		"outcomes[].retry", "outcomes[].retry.result", "outcomes[].retry.application",
		"outcomes[].client", "outcomes[].client.kind", "outcomes[].client.experiences", "outcomes[].client.danger_band",
		"outcomes[].client.danger_band.from_seconds", "outcomes[].client.danger_band.to_seconds",
		"outcomes[].hypotheses", "outcomes[].hypotheses[].id", "outcomes[].hypotheses[].ruled", "outcomes[].hypotheses[].evidence",
		"outcomes[].advice",
		"idle", "idle[].target", "idle[].probe", "idle[].survived_seconds", "idle[].died_seconds", "idle[].measured_seconds",
		"idle[].advertised_seconds", "idle[].how",
		"clients", "clients[].kind", "clients[].experiences", "clients[].result", "clients[].post_experiences", "clients[].post_result",
		"clients[].danger_band", "clients[].danger_band.from_seconds", "clients[].danger_band.to_seconds", "clients[].safe_setting",
		"clients[].keep_idle_below_seconds",
		"budget", "budget[].target", "budget[].limit_per_second", "budget[].requests", "budget[].peak_per_second",
		"problems",
	}
}

// keys walks a decoded document and notes the path of each key.
func keys(v any, at string, into map[string]bool, t *testing.T) {
	t.Helper()
	switch v := v.(type) {
	case nil:
		t.Errorf("%s is null", at)
	case map[string]any:
		for k, inner := range v {
			path := strings.TrimPrefix(at+"."+k, ".")
			into[path] = true
			keys(inner, path, into, t)
		}
	case []any:
		for _, inner := range v {
			keys(inner, at+"[]", into, t)
		}
	}
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The runs together fill every key of the contract and of what was added to it,
// and no other key exists.
func TestJSONKeysAreTheContracts(t *testing.T) {
	got := map[string]bool{}
	all := slices.Collect(maps.Values(runs()))
	run := search()
	for _, run := range append(all, run, fullEvidence()) {
		keys(decoded(t, jsonText(t, run)), "", got, t)
	}
	want := map[string]bool{}
	for _, k := range append(contract(), additions()...) {
		want[k] = true
		if !got[k] {
			t.Errorf("no run produced %q", k)
		}
	}
	for k := range got {
		if !want[k] {
			t.Errorf("%q is not in the contract", k)
		}
	}
}

// What is not known is absent: neither 0 nor null nor "".
func TestJSONUnknownIsAbsent(t *testing.T) {
	acked := int64(0)
	run := probes.Run{
		RunID: "r", Started: started(),
		Outcomes: []probes.Outcome{
			{Target: "a", Probe: "b", Kind: probes.KindHTTP, Verdict: probes.VerdictFail, Attempts: []probes.Attempt{
				{Number: 1, Connection: probes.ConnectionFresh, Reason: probes.ReasonRefused},
				{Number: 2, Connection: probes.ConnectionFresh, Reason: probes.ReasonEOF, RequestBytes: 10, RequestBytesAcked: &acked},
			}, Client: &probes.ClientOutcome{Kind: "node-http", Band: &probes.Band{Open: true}}},
			{Target: "a", Probe: "c", Kind: probes.KindIdle, Hold: time.Second, Verdict: probes.VerdictFail, Close: &probes.Close{}, ClosedBy: "unknown"},
		},
		Idle:   []probes.IdleResult{{Target: "a", Probe: "c"}},
		Budget: []probes.BudgetUse{{Target: "a"}},
	}
	got := map[string]bool{}
	doc := decoded(t, jsonText(t, run))
	keys(doc, "", got, t)
	want := []string{
		"version", "run_id", "seed", "started_at", "verdict", "outcomes", "idle", "budget", "problems",
		"outcomes[].target", "outcomes[].probe", "outcomes[].kind", "outcomes[].verdict", "outcomes[].hold_seconds",
		"outcomes[].closed_after_seconds", "outcomes[].closed_by", "outcomes[].attempts", "outcomes[].path",
		"outcomes[].hypotheses", "outcomes[].advice", "outcomes[].path.tcp_ends", "outcomes[].path.via",
		"outcomes[].client", "outcomes[].client.kind", "outcomes[].client.danger_band", "outcomes[].client.danger_band.from_seconds",
		"outcomes[].attempts[].number", "outcomes[].attempts[].connection", "outcomes[].attempts[].reason",
		"outcomes[].attempts[].request_bytes", "outcomes[].attempts[].request_bytes_acked", "outcomes[].attempts[].response_bytes",
		"idle[].target", "idle[].probe", "budget[].target", "budget[].requests", "budget[].peak_per_second",
	}
	slices.Sort(want)
	if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, want) {
		t.Errorf("keys:\ngot  %v\nwant %v", have, want)
	}
	attempts := doc["outcomes"].([]any)[0].(map[string]any)["attempts"].([]any)
	if _, there := attempts[0].(map[string]any)["request_bytes_acked"]; there {
		t.Error("request_bytes_acked of an attempt without kernel evidence is there")
	}
	if got := attempts[1].(map[string]any)["request_bytes_acked"]; got != 0.0 {
		t.Errorf("request_bytes_acked = %v, want a measured 0", got)
	}
}

func TestJSONUnsetVerdictIsNeverAPass(t *testing.T) {
	doc := decoded(t, jsonText(t, probes.Run{Outcomes: []probes.Outcome{{Target: "a", Probe: "b"}}}))
	if doc["verdict"] != "incomplete" || doc["outcomes"].([]any)[0].(map[string]any)["verdict"] != "incomplete" {
		t.Errorf("got %v, want incomplete twice", doc)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for name, run := range runs() {
		text := jsonText(t, run)
		var d document
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, again) {
			t.Errorf("%s: decoding and encoding changed the document:\n%s\n%s", name, text, again)
		}
	}
}

func TestJSONNumbersAreExact(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{1001 * ms, "1.001"}, {60003 * ms, "60.003"}, {300 * us, "0.0003"}, {time.Hour + time.Nanosecond, "3600.000000001"},
		{123456789 * time.Nanosecond, "0.123456789"},
	} {
		text, err := json.Marshal(seconds(tt.d))
		if err != nil || string(text) != tt.want {
			t.Errorf("%v: got %s (%v), want %s", tt.d, text, err, tt.want)
		}
	}
}
