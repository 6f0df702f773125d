package clients

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestMeasuredOverHTTP2 holds the catalog against the measurements, as
// TestMeasuredTable does for HTTP/1.1; "" is not known.
func TestMeasuredOverHTTP2(t *testing.T) {
	type cells map[probes.Reason][2]string // GET, POST
	both := func(s string) [2]string { return [2]string{s, s} }
	for kind, want := range map[string]cells{
		"okhttp": {
			"idle_goaway": both(""), "idle_fin": both(""), "idle_rst": both("N"), "goaway_unprocessed": both("R"),
			"goaway_processed": both("R"), "refused_stream": both("R"), "stream_reset": both("R"), "eof": both("R"), "reset": both("R"),
			"partial_body": both("stream was reset: CANCEL"),
		},
		"jdk-httpclient": {
			"idle_goaway": both("N"), "idle_fin": both("N"), "idle_rst": both("N"), "goaway_unprocessed": both(""),
			"goaway_processed": both("EOF reached while reading"), "refused_stream": both("R"), "stream_reset": both("Received RST_STREAM"),
			"eof": both("EOF reached"), "reset": both("Connection reset"), "partial_body": both("EOF reached"),
		},
		"httpx": {
			"idle_goaway": {"RemoteProtocolError: ConnectionTerminated", "WriteError"}, "idle_fin": {"Server disconnected", "WriteError"},
			"idle_rst": both("WriteError"), "goaway_unprocessed": both("ConnectionTerminated"), "goaway_processed": both("ConnectionTerminated"),
			"refused_stream": both("StreamReset"), "stream_reset": both("StreamReset"), "eof": both("Server disconnected"),
			"reset": both("Server disconnected"), "partial_body": both("Server disconnected"),
		},
		"libcurl": {
			"idle_goaway": both("N"), "idle_fin": both("N"), "idle_rst": both("N"), "goaway_unprocessed": both("CURLE_HTTP2: "),
			"goaway_processed": both("CURLE_PARTIAL_FILE"), "refused_stream": both("R"), "stream_reset": both("CURLE_HTTP2_STREAM"),
			"eof": both("CURLE_PARTIAL_FILE"), "reset": both("R"), "partial_body": both("CURLE_PARTIAL_FILE"),
		},
		"go-net-http": {
			"idle_goaway": both("N"), "idle_fin": both("N"), "idle_rst": both("N"), "goaway_unprocessed": both("R"),
			"goaway_processed": both("server sent GOAWAY"), "refused_stream": both("R"), "stream_reset": both("stream error"),
			"eof": both("unexpected EOF"), "reset": both("connection reset"), "partial_body": both("unexpected EOF"),
		},
		"requests": {"idle_goaway": both(""), "idle_fin": both(""), "eof": both("")}, // speaks no HTTP/2
	} {
		decl := probes.Client{Kind: kind, HTTP2: true}
		for reason, cell := range want {
			for i, method := range []string{"GET", "POST"} {
				text, result, _ := Experience(decl, reason, method, 1500*time.Millisecond)
				got := map[Result]string{Noticed: "N", Retried: "R", Failed: text}[result]
				if cell[i] != got && (result != Failed || cell[i] == "" || !strings.Contains(text, cell[i])) {
					t.Errorf("%s, %s, %s: %s %q, want %q", kind, reason, method, result, text, cell[i])
				}
			}
		}
	}
}

// TestBothProtocolsShareWhatIsNotTheirs: what comes before a connection, and an
// answer's status.
func TestBothProtocolsShareWhatIsNotTheirs(t *testing.T) {
	for _, reason := range []probes.Reason{"dns", "refused", "connect_timeout", "tls", "certificate", "unavailable", "rate_limited"} {
		for _, kind := range Kinds() {
			one, _, _ := Experience(probes.Client{Kind: kind}, reason, "GET", 0)
			two, _, _ := Experience(probes.Client{Kind: kind, HTTP2: true}, reason, "GET", 0)
			if one != two {
				t.Errorf("%s, %s: %q, over HTTP/2 %q", kind, reason, one, two)
			}
		}
	}
}

// TestRetriedStreamMayRunTwice: OkHttp sends a POST again that may have been
// executed, and one that was not.
func TestRetriedStreamMayRunTwice(t *testing.T) {
	for reason, want := range map[probes.Reason]probes.RetryCover{
		"stream_reset": probes.CoverUnsafe, "goaway_processed": probes.CoverUnsafe,
		"refused_stream": probes.CoverCovered, "goaway_unprocessed": probes.CoverCovered,
	} {
		if _, _, got := Experience(probes.Client{Kind: "okhttp", HTTP2: true}, reason, "POST", time.Second); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}
