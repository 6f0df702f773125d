package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf8"

	"perch.example/probes"
)

// The JSON report is a contract with scripts (design: "JSON report"): keys may
// be added, never renamed. It has types of its own, so that a change of
// perch's nouns is no change of the report. An absent key means unknown; a 0
// is a measured 0; nothing is ever null. Durations are seconds.
type document struct {
	Version    string           `json:"version"`
	Name       string           `json:"name,omitempty"`
	RunID      string           `json:"run_id"`
	Seed       uint64           `json:"seed"`
	Vantage    string           `json:"vantage,omitempty"`
	StartedAt  string           `json:"started_at,omitempty"`
	FinishedAt string           `json:"finished_at,omitempty"`
	Verdict    probes.Verdict   `json:"verdict"`
	Outcomes   []outcomeJSON    `json:"outcomes"`
	Idle       []idleJSON       `json:"idle"`
	Clients    []idleClientJSON `json:"clients,omitempty"` // of perch idle
	Budget     []budgetJSON     `json:"budget"`
	Settled    []settledJSON    `json:"settled,omitempty"`
	Incidents  []incidentJSON   `json:"incidents,omitempty"`
	Problems   []string         `json:"problems"`
}

type outcomeJSON struct {
	Target      string           `json:"target"`
	Probe       string           `json:"probe"`
	Kind        probes.Kind      `json:"kind"`
	Verdict     probes.Verdict   `json:"verdict"`
	Reason      probes.Reason    `json:"reason,omitempty"`
	Diagnosis   probes.Diagnosis `json:"diagnosis,omitempty"`
	Message     string           `json:"message,omitempty"`
	Hold        float64          `json:"hold_seconds,omitzero"`
	Unused      bool             `json:"unused,omitempty"`
	Limit       *limitJSON       `json:"connection_limit,omitempty"`
	EndsAtAge   float64          `json:"ends_at_age_seconds,omitempty"`
	ClosedAfter *float64         `json:"closed_after_seconds,omitempty"` // a close at idle age 0 is known
	ClosedBy    string           `json:"closed_by,omitempty"`
	Attempts    []attemptJSON    `json:"attempts"`
	TLS         *tlsJSON         `json:"tls,omitempty"`
	Path        pathJSON         `json:"path"`
	Retry       *retryJSON       `json:"retry,omitempty"`
	Client      *clientJSON      `json:"client,omitempty"`
	Hypotheses  []hypothesisJSON `json:"hypotheses"`
	Advice      []string         `json:"advice"`
	Accepted    *acceptedJSON    `json:"accepted,omitempty"`

	Burst      *burstJSON       `json:"burst,omitempty"`
	Prediction []predictionJSON `json:"prediction,omitempty"`
}

// acceptedJSON is why a fail opens no incident.
type acceptedJSON struct {
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

type attemptJSON struct {
	Number        int               `json:"number"`
	Connection    probes.Connection `json:"connection"`
	Reason        probes.Reason     `json:"reason,omitempty"`
	Method        string            `json:"method,omitempty"` // not GET
	Renewed       bool              `json:"renewed,omitempty"`
	Status        int               `json:"status,omitzero"`
	GRPC          *grpcJSON         `json:"grpc,omitempty"`
	Goaway        *goawayJSON       `json:"goaway,omitempty"`
	Elapsed       float64           `json:"elapsed_seconds,omitzero"`
	Phases        *phasesJSON       `json:"phases,omitempty"`
	RTT           float64           `json:"rtt_seconds,omitzero"`
	MinRTT        float64           `json:"min_rtt_seconds,omitzero"`
	Hello         float64           `json:"tls_hello_seconds,omitzero"`
	Idle          float64           `json:"idle_seconds,omitzero"`
	RequestBytes  int64             `json:"request_bytes"`
	RequestAcked  *int64            `json:"request_bytes_acked,omitempty"`
	AckedAtFirst  *int64            `json:"request_bytes_acked_at_first_event,omitempty"`
	Timing        probes.Timing     `json:"close_timing,omitempty"`
	ResponseBytes int64             `json:"response_bytes"`
	PushedStatus  int               `json:"pushed_status,omitzero"`
	LocalAddr     string            `json:"local_addr,omitempty"`
	RemoteAddr    string            `json:"remote_addr,omitempty"`
	Proto         string            `json:"proto,omitempty"`
	TraceID       string            `json:"trace_id,omitempty"`
	SpanID        string            `json:"span_id,omitempty"`
	Delay         *float64          `json:"delay_seconds,omitempty"` // perch's own; a measured 0 is known
	WokeLate      float64           `json:"woke_late_seconds,omitzero"`
	Waited        float64           `json:"waited_seconds,omitzero"`
	Own           *ownJSON          `json:"own_pod,omitempty"`

	Address  string      `json:"address,omitempty"` // addresses: all
	PinnedIP *pinnedJSON `json:"pinned_ip,omitempty"`
}

// ownJSON is perch's own pod while a failed attempt ran.
type ownJSON struct {
	Stalled     float64         `json:"stalled_seconds,omitzero"`
	Throttled   *float64        `json:"throttled_seconds,omitempty"`
	Descriptors *usageJSON      `json:"descriptors,omitempty"`
	Ports       *usageJSON      `json:"ports,omitempty"`
	Exhausted   probes.Resource `json:"exhausted,omitempty"`
}

type usageJSON struct {
	Used  int `json:"used"`
	Limit int `json:"limit"`
}

type phasesJSON struct {
	DNS      float64 `json:"dns,omitzero"`
	Connect  float64 `json:"connect,omitzero"`
	TLS      float64 `json:"tls,omitzero"`
	Wait     float64 `json:"wait,omitzero"`
	Transfer float64 `json:"transfer,omitzero"`
}

type pathJSON struct {
	TCPEnds probes.TCPEnds `json:"tcp_ends"`
	Via     []string       `json:"via"`
	By      []string       `json:"by,omitempty"` // how each of via is known, in its order
	TCPRTT  float64        `json:"tcp_rtt_seconds,omitzero"`
	Hello   float64        `json:"tls_hello_seconds,omitzero"`
}

type retryJSON struct {
	Result      probes.RetryResult `json:"result,omitempty"`
	Application probes.RetryCover  `json:"application,omitempty"`
}

type clientJSON struct {
	Kind        string    `json:"kind"`
	Experiences string    `json:"experiences,omitempty"`
	Band        *bandJSON `json:"danger_band,omitempty"`
}

type bandJSON struct {
	From float64  `json:"from_seconds"`
	To   *float64 `json:"to_seconds,omitempty"` // absent: the band has no end
}

type hypothesisJSON struct {
	ID       probes.HypothesisID `json:"id"`
	Ruled    probes.Ruling       `json:"ruled"`
	Evidence string              `json:"evidence,omitempty"`
}

type idleJSON struct {
	Target     string           `json:"target"`
	Probe      string           `json:"probe"`
	Survived   float64          `json:"survived_seconds,omitzero"`
	Died       float64          `json:"died_seconds,omitzero"`
	Measured   float64          `json:"measured_seconds,omitzero"`
	Advertised float64          `json:"advertised_seconds,omitzero"`
	How        probes.HowClosed `json:"how,omitempty"`
	Address    string           `json:"address,omitempty"`
}

type budgetJSON struct {
	Target   string  `json:"target"`
	Limit    float64 `json:"limit_per_second,omitzero"`
	Requests int     `json:"requests"`
	Peak     float64 `json:"peak_per_second"`
	Alone    string  `json:"left_alone_until,omitempty"`
}

// settledJSON is what was tried again, uncounted, while perch's own network was
// coming up.
type settledJSON struct {
	Target string        `json:"target"`
	Times  int           `json:"times"`
	Reason probes.Reason `json:"reason"`
	After  float64       `json:"after_seconds"`
}

// JSON writes the run as one JSON document (design: "JSON report"). The error
// is w's.
func JSON(w io.Writer, run probes.Run) error {
	text, err := encode(newDocument(run))
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func encode(d document) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	return escaped(b.Bytes()), nil
}

// escaped writes what a terminal might obey as \u escapes. encoding/json does
// so below U+0020 only, but U+009B starts a terminal's escape code, too, and
// U+202E turns the reading direction. Outside of strings a JSON text has none
// of these.
func escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < 0x7f || unicode.IsGraphic(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			const base, half = 0x10000, 10
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r-base)>>half, 0xdc00+(r-base)&(1<<half-1))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// seconds is exact: dividing whole nanoseconds rounds once, so 1.001 s prints
// as 1.001.
func seconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
