package clients

import (
	"slices"
	"testing"

	"perch.example/probes"
)

func TestMeans(t *testing.T) {
	const limited = "org.springframework.web.client.HttpClientErrorException$TooManyRequests"
	for _, tt := range []struct {
		entry, name string
		want        bool
	}{
		{noAnswer, noAnswer, true},
		{"NoHttpResponseException", noAnswer, true},
		{"nohttpresponseexception", noAnswer, false},
		{"http.NoHttpResponseException", noAnswer, false},
		{"org.apache.hc.core5.http.NoHttpResponseException", noAnswer, false},
		{limited, limited, true},
		{"TooManyRequests", limited, true},
		{"HttpClientErrorException$TooManyRequests", limited, true},
		{"HttpClientErrorException.TooManyRequests", limited, true},
		{"HttpClientErrorException", limited, false},
		{"HttpServerErrorException$TooManyRequests", limited, false},
		{"*url.Error", "*url.Error", true},
		{"url.Error", "*url.Error", true},
		{"net.Error", "*url.Error", false},
		{"5XX", "5xx", true},
		{"", "", true},
		{"", noAnswer, false},
	} {
		if got := Means(tt.entry, tt.name); got != tt.want {
			t.Errorf("%q means %q: %t, want %t", tt.entry, tt.name, got, tt.want)
		}
	}
}

// TestAListIsReadAsApplicationsWriteIt: by the names under which applications
// import the classes, nothing is a stranger and nothing network-like is missed.
func TestAListIsReadAsApplicationsWriteIt(t *testing.T) {
	for _, tt := range []struct {
		kind   string
		errors []string
	}{
		{"requests", []string{"requests.ConnectionError", "requests.Timeout"}},
		{"requests", []string{"requests.RequestException"}},
		{"requests", []string{"EnvironmentError"}},
		{"aiohttp", []string{"aiohttp.client_exceptions.ClientError", "asyncio.exceptions.TimeoutError"}},
		{"aiohttp", []string{"aiohttp.ClientError", "TimeoutError"}},
		{"go-net-http", []string{"error"}},
		{"go-net-http", []string{"url.Error"}},
		{"go-net-http", []string{"net.Error"}},
	} {
		decl := probes.Client{Kind: tt.kind, Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 2, Errors: tt.errors}}
		if a := Audit(decl, AuditMethods()); a.Missed() {
			t.Errorf("%s, %q: misses %q", tt.kind, tt.errors, a.Missing)
		}
		if got := strangers(decl); len(got) > 0 {
			t.Errorf("%s: %q are taken for unknown", tt.kind, got)
		}
	}
	around := spring("around", "HttpClientErrorException$TooManyRequests")
	if _, _, cover := Experience(around, "rate_limited", "GET", 0); cover != probes.CoverCovered {
		t.Errorf("the class as the audit prints it: %s", cover)
	}
}

// TestAliasesAreOfKnownErrors: else nothing would ever be known by them.
func TestAliasesAreOfKnownErrors(t *testing.T) {
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		found := map[string]bool{}
		addErrors(found, c.Errors)
		for name, aliases := range c.Aliases {
			if !found[name] {
				t.Errorf("%s: aliases of %s, which is no error of it", kind, name)
			}
			if len(aliases) == 0 || slices.Contains(aliases, name) {
				t.Errorf("%s: %s has the aliases %q", kind, name, aliases)
			}
		}
	}
}
