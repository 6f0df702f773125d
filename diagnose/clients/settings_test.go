package clients

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// TestSafe: the margin is the largest of three, and the spread comes on top.
func TestSafe(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, tt := range []struct {
		name string
		path Path
		want time.Duration
	}{
		{"nothing measured", Path{}, 0},
		{"10%", Path{Timeout: 60 * s, Margin: 20 * ms}, 54 * s},
		{"at least 100 ms", Path{Timeout: 900 * ms}, 800 * ms},
		{"two round trips", Path{Timeout: 2 * s, Margin: 300 * ms}, 1400 * ms},
		{"the spread of a ticking server", Path{Timeout: 2 * s, Spread: 500 * ms}, 1300 * ms},
		{"never less than half", Path{Timeout: 2 * s, Spread: 5 * s}, s},
		{"rounded down", Path{Timeout: 12345 * ms}, 10 * s},
		{"a little before a second", Path{Timeout: 998 * ms, Spread: 3 * ms}, 900 * ms},
		{"a little after it", Path{Timeout: 1005 * ms, Spread: 11 * ms, Margin: 8 * ms}, 900 * ms},
		{"a minute, a tick late", Path{Timeout: 60700 * ms, Spread: 300 * ms}, 54 * s},
		{"short ones finely", Path{Timeout: 333 * ms}, 230 * ms},
	} {
		if got := tt.path.Safe(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestSafeSetting: the setting that ends the band, in the order in which they
// are worth changing; none where none would.
func TestSafeSetting(t *testing.T) {
	const s = time.Second
	apache := probes.Client{Kind: "apache-httpclient-4.5", MaxIdle: none()}
	strategy := "HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 900)"
	for _, tt := range []struct {
		name string
		decl probes.Client
		path Path
		want string
	}{
		{"the idle limit first", apache, Path{Timeout: s}, strategy},
		{"also in silence", apache, Path{Timeout: s, Silent: true}, strategy},
		{"no band", apache, Path{Timeout: 60 * s}, ""},
		{"a limit that counts whole seconds cannot say 900 ms", probes.Client{Kind: "jdk-httpclient"}, Path{Timeout: s, Silent: true}, ""},
		{"but can say 9 s", probes.Client{Kind: "jdk-httpclient"}, Path{Timeout: 10 * s, Silent: true}, "-Djdk.httpclient.keepalive.timeout=9"},
		{"a client that sweeps is set lower", probes.Client{Kind: "dotnet-httpclient"}, Path{Timeout: 20 * s, Silent: true}, "new SocketsHttpHandler { PooledConnectionIdleTimeout = TimeSpan.FromMilliseconds(14400) }"},
		{"or not at all", probes.Client{Kind: "dotnet-httpclient"}, Path{Timeout: s, Silent: true}, ""},
		{"nothing measured", apache, Path{}, ""},
		{"an unknown client", probes.Client{Kind: "lynx"}, Path{Timeout: s}, ""},
	} {
		if got := SafeSetting(tt.decl, tt.path); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSafeSettingKeepsItsPromise: with what it sets, no client has a band.
func TestSafeSettingKeepsItsPromise(t *testing.T) {
	for _, decl := range Common() {
		for _, silent := range []bool{false, true} {
			path := Path{Timeout: 3 * time.Second, Margin: time.Millisecond, Silent: silent}
			code := SafeSetting(decl, path)
			if code != "" && BandOn(decl, path) == nil {
				t.Errorf("%s, silent %t: %q where there is no band", decl.Kind, silent, code)
			}
			c, _ := Lookup(decl.Kind)
			if settable := c.Settings.MaxIdle != ""; settable && BandOn(decl, path) != nil && code != Setting(c.Settings.MaxIdle, c.Idle.Settable(path.Safe())) {
				t.Errorf("%s, silent %t: %q, though it has an idle limit", decl.Kind, silent, code)
			}
		}
	}
}

func TestNames(t *testing.T) {
	decl := probes.Client{Kind: "apache-httpclient-4.5"}
	bare := Names(decl)
	decl.WrappedBy = "spring-resttemplate"
	wrapped := Names(decl)
	const spring = "org.springframework.web.client."
	for _, name := range []string{"org.apache.http.NoHttpResponseException", "java.io.IOException", "java.lang.Throwable", "503", "5xx", "429", "4xx"} {
		if !slices.Contains(bare, name) || !slices.Contains(wrapped, name) {
			t.Errorf("%s is missing: %q", name, bare)
		}
	}
	for _, name := range []string{spring + "ResourceAccessException", spring + "RestClientException", spring + "HttpServerErrorException$ServiceUnavailable"} {
		if slices.Contains(bare, name) || !slices.Contains(wrapped, name) {
			t.Errorf("%s does not come from the wrapper alone", name)
		}
	}
	if !slices.IsSorted(wrapped) || len(slices.Compact(slices.Clone(wrapped))) != len(wrapped) {
		t.Errorf("not sorted, or twice: %q", wrapped)
	}
	if got := Names(probes.Client{Kind: "lynx"}); got != nil {
		t.Errorf("an unknown client: %q", got)
	}
}
