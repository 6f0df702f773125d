package clients

import (
	"fmt"
	"testing"
	"time"

	"perch.example/probes"
)

func TestBand(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	apache := func(maxIdle, validate probes.Limit) probes.Client {
		return probes.Client{Kind: "apache-httpclient-4.5", MaxIdle: maxIdle, ValidateAfter: validate}
	}
	unset := probes.Limit{}
	visible := func(timeout time.Duration) Path { return Path{Timeout: timeout, Margin: ms} }
	met := func(end probes.Reason, timeout time.Duration) Path {
		return Path{Timeout: timeout, Margin: ms, End: end}
	}
	silent := Path{Timeout: 350 * s, Silent: true}
	awake := apache(none(), unset)
	awake.TCPKeepAlive = 60 * s
	drowsy := awake
	drowsy.TCPKeepAlive = 2 * time.Hour
	tests := []struct {
		name string
		decl probes.Client
		path Path
		want string
	}{
		{"looks after 2 s, closes after 1 s", apache(none(), after(2*s)), visible(s), "999ms to 2s"},
		{"looks after 2 s, closes after 60 s", apache(none(), after(2*s)), visible(60 * s), "none"},
		{"the default looks after 2 s", apache(unset, unset), visible(s), "999ms to 2s"},
		{"never looks", apache(none(), none()), visible(60 * s), "59.999s and longer"},
		{"never looks, but stops", apache(after(90*s), none()), visible(60 * s), "59.999s to 1m30s"},
		{"stops well before", apache(after(50*s), none()), visible(60 * s), "none"},
		{"equal timeouts race", apache(after(60*s), none()), visible(60 * s), "59.999s to 1m0s"},
		{"looks before each use", apache(none(), always()), visible(s), "none"},
		{"the hint is obeyed", apache(unset, none()), Path{Timeout: 6 * s, Margin: ms, Advertised: 5 * s}, "none"},
		{"without a hint it has no limit", apache(unset, none()), visible(6 * s), "5.999s and longer"},
		{"silence is not seen by looking", apache(none(), after(2*s)), silent, "5m50s and longer"},
		{"TCP keep-alive keeps it awake", awake, silent, "none"},
		{"TCP keep-alive too seldom", drowsy, silent, "5m50s and longer"},
		{"Go looks all the time", probes.Client{Kind: "go-net-http"}, visible(s), "none"},
		{"and no setting changes that", probes.Client{Kind: "go-net-http", ValidateAfter: none()}, visible(s), "none"},
		{"Go in silence", probes.Client{Kind: "go-net-http"}, Path{Timeout: 60 * s, Silent: true}, "1m0s to 1m30s"},
		{".NET drops up to a quarter late", probes.Client{Kind: "dotnet-httpclient"}, Path{Timeout: 60 * s, Silent: true}, "1m0s to 1m15s"},
		{"and at least a second", probes.Client{Kind: "dotnet-httpclient", MaxIdle: after(2 * s)}, Path{Timeout: 2500 * ms, Silent: true}, "2.5s to 3s"},
		{"a pushed 408 is not seen by looking", apache(none(), after(2*s)), met("idle_bytes", s), "999ms and longer"},
		{"nor by curl, which always looks", probes.Client{Kind: "libcurl"}, met("idle_bytes", s), "999ms to 1m58s"},
		{"what reactor-netty does then is not known", probes.Client{Kind: "reactor-netty"}, met("idle_bytes", s), "999ms and longer"},
		{"HttpURLConnection notices a reset without looking", probes.Client{Kind: "httpurlconnection"}, met("idle_rst", s), "none"},
		{"but no FIN", probes.Client{Kind: "httpurlconnection"}, met("idle_fin", s), "999ms to 5s"},
		{"OkHttp notices for a POST only", probes.Client{Kind: "okhttp"}, met("idle_fin", s), "999ms to 5m0s"},
		{"Apache notices what it looks at", apache(none(), after(2*s)), met("idle_rst", s), "999ms to 2s"},
		{"a reset on the next packet is seen by nobody", probes.Client{Kind: "go-net-http"}, met("reset", 60*s), "59.999s to 1m30s"},
		{"not even by one that looks", apache(none(), always()), met("reset", 60*s), "59.999s and longer"},
		{"an end that nobody saw", probes.Client{Kind: "okhttp"}, Path{Timeout: 360 * s, Silent: true, Unseen: true, Survived: 120 * s}, "2m0s to 5m0s"},
		{"and nothing worked", probes.Client{Kind: "okhttp"}, Path{Timeout: 360 * s, Silent: true, Unseen: true}, "0s to 5m0s"},
		{"nothing measured", apache(none(), none()), Path{}, "none"},
		{"an unknown client", probes.Client{Kind: "lynx"}, visible(s), "none"},
		{"a margin larger than the timeout", apache(none(), none()), Path{Timeout: ms, Margin: s}, "0s and longer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := words(BandOn(tt.decl, tt.path)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func words(b *probes.Band) string {
	switch {
	case b == nil:
		return "none"
	case b.Open:
		return fmt.Sprintf("%s and longer", b.From)
	}
	return fmt.Sprintf("%s to %s", b.From, b.To)
}

func TestHolds(t *testing.T) {
	band := &probes.Band{From: time.Second, To: 2 * time.Second}
	open := &probes.Band{From: time.Second, Open: true}
	for _, tt := range []struct {
		band *probes.Band
		idle time.Duration
		want bool
	}{
		{band, 999 * time.Millisecond, false}, {band, time.Second, true}, {band, 2 * time.Second, false},
		{open, time.Hour, true}, {open, 0, false}, {nil, time.Second, false},
	} {
		if got := Holds(tt.band, tt.idle); got != tt.want {
			t.Errorf("%s in %s: %t, want %t", tt.idle, words(tt.band), got, tt.want)
		}
	}
}

// TestOnlyWhatWorkedIsSafeOfAnEndThatNobodySaw: a load balancer that forgets
// after four minutes dies on the rung of six, and not at its nine tenths.
func TestOnlyWhatWorkedIsSafeOfAnEndThatNobodySaw(t *testing.T) {
	for _, tt := range []struct {
		path Path
		want time.Duration
	}{
		{Path{Timeout: 360 * time.Second, Unseen: true, Survived: 120 * time.Second}, 120 * time.Second},
		{Path{Timeout: 360 * time.Second, Unseen: true, Survived: 359 * time.Second}, 324 * time.Second},
		{Path{Timeout: 360 * time.Second, Unseen: true}, 0},
		{Path{Timeout: 360 * time.Second, Survived: 120 * time.Second}, 324 * time.Second},
	} {
		if got := tt.path.Safe(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.path, got, tt.want)
		}
		for _, decl := range Common() {
			code := SafeSetting(decl, tt.path)
			if tt.want == 0 && code != "" {
				t.Errorf("%s: %q, though nothing is safe", decl.Kind, code)
			}
		}
	}
}
