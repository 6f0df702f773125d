package diagnose

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// TestAdvice looks for the numbers and words that each diagnosis must give.
func TestAdvice(t *testing.T) {
	const s = time.Second
	ticks := idleInput(time.Minute,
		rungAt(0, 20*s, "idle_fin").closed(5*s, "fin"), rungAt(5*s, 30*s, "idle_fin").closed(6*s, "fin"))
	goClient := idleInput(10*time.Minute, rungAt(0, 400*s, "idle_fin").closed(350*s, "fin"))
	goClient.Spec.Client = &probes.Client{Kind: "go-net-http", MaxIdle: probes.Limit{Mode: probes.LimitNone}}
	goDefault := goClient
	goDefault.Spec.Client = &probes.Client{Kind: "go-net-http"}
	jdk := one(rungAt(0, 1500*time.Millisecond, "idle_fin").closed(s, "fin"))
	jdk.Spec.Client = &probes.Client{Kind: "jdk-httpclient"}
	silent := idleInput(0, rungAt(0, 300*s, "ok"), rungAt(0, 400*s, "blackhole"))
	silent.Spec.Client = &probes.Client{Kind: "go-net-http"}
	silentNone := silent
	silentNone.Spec.Client = &probes.Client{Kind: "go-net-http", MaxIdle: probes.Limit{Mode: probes.LimitNone}}
	as := func(in Input, c probes.Client) Input {
		in.Spec.Client = &c
		return in
	}
	endless := probes.Limit{Mode: probes.LimitNone}
	undeclared := silent
	undeclared.Spec.Client = nil
	packets := as(silent, probes.Client{Kind: "go-net-http", MaxIdle: endless, TCPKeepAlive: 30 * s})
	packetsBehind := as(idleInput(0, rungAt(0, 300*s, "ok"), behind(rungAt(0, 400*s, "blackhole"))), probes.Client{Kind: "go-net-http", MaxIdle: endless, TCPKeepAlive: 30 * s})
	noSetting := as(silent, probes.Client{Kind: "okhttp", MaxIdle: endless})
	urlConnection := as(idleInput(0, rungAt(0, 500*time.Millisecond, "ok"), rungAt(0, 900*time.Millisecond, "blackhole")), probes.Client{Kind: "httpurlconnection", MaxIdle: endless})
	neverLooks := as(one(rungAt(0, 1500*time.Millisecond, "idle_fin").closed(s, "fin")), probes.Client{Kind: "apache-httpclient-4.5", ValidateAfter: endless})
	dotnet := as(goClient, probes.Client{Kind: "dotnet-httpclient", MaxIdle: endless})
	webClient := as(goClient, probes.Client{Kind: "reactor-netty", WrappedBy: "spring-webclient"})
	requests := as(one(rungAt(0, 15*s, "idle_fin").closed(10*s, "fin")), probes.Client{Kind: "requests"})
	overMesh := one(behind(rungAt(0, 15*s, "idle_fin").closed(10*s, "fin")))
	overPlain := one(behind(rungAt(0, 15*s, "idle_fin").closed(10*s, "fin")))
	overPlain.Spec.URL = &url.URL{Scheme: "http", Host: "api.partner.example"}
	proxied := behind(rungAt(0, 15*s, "idle_fin").closed(10*s, "fin"))
	proxied.o.Path.Via = []string{"proxy"}
	overProxy := one(proxied)
	down := httpInput("unavailable")
	down.Observations[0].Attempts[0].Status, down.Observations[0].Attempts[0].RetryAfter = 503, 7*s
	certificate := func(detail string) Input {
		in := httpInput("certificate")
		in.Observations[0].Attempts[0].Detail = "tls: failed to verify certificate: " + detail
		return in
	}
	closing := rungAt(0, s, "ok")
	closing.o.Attempts = closing.o.Attempts[:1]
	closing.o.Attempts[0].Reason = probes.ReasonNoKeepAlive
	closing.o.Attempts[0].Phases = probes.Phases{DNS: time.Millisecond, Connect: 20 * time.Millisecond, TLS: 40 * time.Millisecond}
	tests := []struct {
		name string
		in   Input
		i    int
		want []string
	}{
		{"ticks widen the margin", ticks, 0, []string{"at or below 3.5 s. The path closes after 5 s (measured); less 500 ms for round trip and ticks, less 1 s by which the closes differ: 3.5 s."}},
		{"never below half of a short timeout", one(rungAt(0, s, "idle_fin").closed(150*time.Millisecond, "fin")), 0, []string{"at or below 70 ms"}},
		{"an end that nobody saw", idleInput(time.Minute, rungAt(0, 10*s, "ok"), rungAt(5*s, 30*s, "eof")), 1, []string{"at or below 10 s. When it ended was not seen; what was idle for 10 s still worked."}},
		{"a name that does not resolve", httpInput("dns"), 0, []string{"1. Check the host's name in the URL, and whether the pod's own resolver knows it"}},
		{"in Go's words", goClient, 0, []string{"1. Set Go net/http's idle limit (max_idle in perch's config) none -> 315 s: `&http.Transport{IdleConnTimeout: 315 * time.Second}`", "before the 10 min that perch's config (`keep_alive: 10m`) expects"}},
		{"no client: common ones", one(rungAt(0, 1500*time.Millisecond, "idle_fin").closed(s, "fin")), 0, []string{"With their defaults these would use", "Apache HttpClient 4.5 at 998 ms to 2 s"}},
		{"nothing to change", goDefault, 0, []string{"1. Leave Go net/http's idle limits as they are"}},
		{"whole seconds only", jdk, 0, []string{"1. Let the first call after a pause of 900 ms or more open a new connection (a new HttpClient): JDK HttpClient's own setting counts whole seconds and cannot say 900 ms. The path closes"}},
		{"silence, in its settings", silentNone, 1, []string{"1. Set Go net/http's idle limit (max_idle in perch's config) none -> 300 s: `&http.Transport{IdleConnTimeout: 300 * time.Second}`. The path forgets what is idle for 400 s. The real bound", "\n1b. Or set Go net/http's tcp_keep_alive none -> 300 s: `", "KeepAlive: 300 * time.Second", "between 300 s, which worked, and 400 s", "Looking at the connection before use does not help"}},
		{"silence, kept away already", silent, 1, []string{"Leave Go net/http's max_idle of 90 s as it is: it stops before the path forgets, at 400 s"}},
		{"503 and Retry-After", withClient(one(limited("unavailable", 503))), 0, []string{"1. Send less, and wait the 7 s that the API asks for", "\n2. Ask the API's owner: one request came to this on a connection that was alive, and a fresh connection"}},
		{"down and Retry-After", down, 0, []string{"1. Send less, and wait the 7 s"}},
		{"certificate: expired", certificate("x509: certificate has expired or is not yet valid: current time 2026-11-30T12:00:00Z is after 2026-11-29T12:00:00Z"), 0, []string{"it has expired"}},
		{"certificate: not yet", certificate("x509: certificate has expired or is not yet valid: current time 2026-11-30T12:00:00Z is before 2026-12-29T12:00:00Z"), 0, []string{"not valid yet"}},
		{"certificate: host", certificate("x509: certificate is valid for a.example, not b.example"), 0, []string{"made for another host"}},
		{"certificate: address", certificate("x509: cannot validate certificate for 192.0.2.1 because it doesn't contain any IP SANs"), 0, []string{"made for another host"}},
		{"certificate: authority", certificate("x509: certificate signed by unknown authority"), 0, []string{"1. Give perch and the application the CA"}},
		{"certificate: unknown cause", certificate(""), 0, []string{"right CA"}},
		{"silence, no client", undeclared, 1, []string{"1. Keep the longest idle time at or below 300 s, or send TCP keep-alive at least that often."}},
		{"silence, its packets did not help", packets, 1, []string{"TCP keep-alive every 30 s did not keep it"}},
		{"silence, its packets end at a proxy", packetsBehind, 1, []string{"none -> 300 s", "For whoever runs the mesh sidecar: TCP ends there", "trafficPolicy.connectionPool.tcp.tcpKeepalive"}},
		{"silence, and no such setting", noSetting, 1, []string{"OkHttp 3's idle limit (max_idle in perch's config) none -> 300 s"}},
		{"silence, and no setting that says it", urlConnection, 1, []string{"HttpURLConnection has no setting that keeps it below the 900 ms", "Let the first call after a pause of 500 ms or more open a new connection (`disconnect()` after the last answer before the pause)"}},
		{"a proxy's own idle timeout", overMesh, 0, []string{"For whoever runs the mesh sidecar: TCP ends there, so that its own idle timeout", "trafficPolicy.connectionPool.tcp.idleTimeout (1 h by default)"}},
		{"a proxy's own idle timeout, plain", overPlain, 0, []string{"trafficPolicy.connectionPool.http.idleTimeout (1 h by default)"}},
		{"a proxy that is no mesh", overProxy, 0, []string{"For whoever runs the proxy: TCP ends there"}},
		{"no more descriptors", spentOn(probes.ResourceDescriptors, 64, 64), 0, []string{"Let perch's pod open more files", "max_connections"}},
		{"no more ports", spentOn(probes.ResourcePorts, 4, 4), 0, []string{"net.ipv4.ip_local_port_range"}},
		{"in Spring Boot", withClient(one(rungAt(0, 1500*time.Millisecond, "idle_fin").closed(s, "fin"))), 0, []string{"setKeepAliveStrategy((response, context) -> 900)`, in Spring Boot by the @Bean in docs/clients.md, under Apache HttpClient 4.5. "}},
		{"in Spring Boot, WebClient", webClient, 0, []string{"maxIdleTime(Duration.ofMillis(315000)).build())`, in Spring Boot by the @Bean in docs/clients.md, under reactor-netty HttpClient. "}},
		{"the config's word for no look", neverLooks, 0, []string{"validate_after never -> 900 ms: `manager.setValidateAfterInactivity(900)`"}},
		{"in .NET's words", dotnet, 0, []string{"1. Set .NET HttpClient's idle limit (max_idle in perch's config) none -> 252 s: `new SocketsHttpHandler { PooledConnectionIdleTimeout = TimeSpan.FromMilliseconds(252000) }`"}},
		{"requests has no such setting", requests, 0, []string{"Let the first call after a pause of 9 s or more open a new connection (a new Session): Python requests has no setting for how long a connection may be idle. ", "send again what is idempotent, so that `", "does not reach the application: `session.mount(", "executed twice"}},
		{"stalled", withClient(one(rungAt(0, 30*s, "no_response"))), 0, []string{"`HttpClientBuilder.create().setDefaultRequestConfig(RequestConfig.custom().setSocketTimeout(1000).build())`", "may still be running"}},
		{"undeclared close", one(rungAt(0, s, "idle_fin").closed(20*time.Millisecond, "fin")), 0, []string{"1. Limit how often", "\n2. For the API's owner: ", "should have said Connection: close"}},
		{"service down", one(rungAt(0, s, "eof").control("eof")), 0, []string{"It is not the connection pool"}},
		{"rate limited", httpInput("rate_limited"), 0, []string{"perch sent 12 requests"}},
		{"no keep-alive", one(closing), 0, []string{"every call pays 61 ms for a new one (name 1 ms, connect 20 ms, TLS 40 ms)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := strings.Join(judgeOne(t, tt.in, tt.i).Advice, "\n")
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("advice lacks %q:\n%s", want, all)
				}
			}
		})
	}
}

// TestAdviceSaysWhatMayHaveRun walks every client, reason, method and setting:
// whoever is told to send again is told what that can do.
func TestAdviceSaysWhatMayHaveRun(t *testing.T) {
	told := 0
	for _, kind := range clients.Kinds() {
		for _, reason := range probes.Reasons() {
			for _, method := range []string{"GET", "POST", "PUT"} {
				for _, c := range declarations(kind) {
					in := idleInput(time.Minute, rungAt(0, 1500*time.Millisecond, reason))
					in.Spec.Client, in.Spec.Method = &c, method
					fresh := httpInput(reason, probes.ReasonOK)
					fresh.Spec.Client, fresh.Spec.Method = &c, method
					for _, o := range append(Judge(in), Judge(fresh)...) {
						told += saysWhatMayHaveRun(t, o.Advice)
					}
				}
			}
		}
	}
	if told == 0 {
		t.Error("nobody was told to send again: the test shows nothing")
	}
}

// declarations are a client without a policy, with its own retries off, with a
// list that holds nothing, and with one attempt.
func declarations(kind string) []probes.Client {
	plain, bare := probes.Client{Kind: kind}, probes.Client{Kind: kind, AutomaticRetries: probes.SwitchNone}
	listed, once, wrapped := bare, bare, bare
	listed.Retry = &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{"org.example.Nothing"}}
	once.Retry = &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 1}
	wrapped.Retry = &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{"ResourceAccessException"}}
	if clients.Wraps("spring-resttemplate", kind) {
		wrapped.WrappedBy = "spring-resttemplate"
	}
	return []probes.Client{plain, bare, listed, once, wrapped}
}

// saysWhatMayHaveRun counts the lines that tell to send again.
func saysWhatMayHaveRun(t *testing.T, advice []string) int {
	t.Helper()
	told := 0
	for _, line := range advice {
		low := strings.ToLower(line)
		repeats := false
		for _, word := range []string{"retry layer", "retry list", "retries", "retry policy", "move that retry", "repeat", "send again", "attempts", "retry="} {
			repeats = repeats || strings.Contains(low, word)
		}
		if !repeats || strings.HasPrefix(line, "Mind: ") { // a caveat of the catalog: what a setting does not do
			continue
		}
		told++
		if !strings.Contains(line, "executed") && !strings.Contains(line, "may still be running") {
			t.Errorf("%q tells to send again and not what that can do", line)
		}
		if !strings.Contains(line, "idempotent") && !strings.Contains(line, "turn off") {
			t.Errorf("%q tells to send again and not what may be", line)
		}
	}
	return told
}

// TestRetryAdvice: the entries of the whole race, of the layer that sees them,
// and nothing that is there already.
func TestRetryAdvice(t *testing.T) {
	const noAnswer, socket, around = "`org.apache.http.NoHttpResponseException`", "`java.net.SocketException`", "`org.springframework.web.client.ResourceAccessException`"
	type change func(*probes.Client)
	errors := func(names ...string) change { return func(c *probes.Client) { c.Retry.Errors = names } }
	tests := []struct {
		name   string
		change change
		method string
		reason probes.Reason
		want   string // the second step; empty: there is none for retries
		or     bool   // whether moving the layer is offered
	}{
		{"idle_fin", errors("ResourceAccessException"), "GET", "idle_fin", "Add " + noAnswer + " and " + socket + " to the list of the retry layer that calls Apache HttpClient 4.5 (inside RestTemplate: an interceptor or a request factory), for idempotent methods only: the same race", true},
		{"reset", errors("ResourceAccessException"), "GET", "reset", "Add " + socket + " and " + noAnswer + " to the list of the retry layer", true},
		{"half of the race is there", errors("NoHttpResponseException"), "GET", "eof", "Add " + socket + " to the list of the retry layer", false},
		{"all of it is there", errors("NoHttpResponseException", "java.net.SocketException"), "GET", "eof", "", false},
		{"by its superclass", errors("java.io.IOException"), "GET", "eof", "", false},
		{"a list around that holds nothing of it", func(c *probes.Client) {
			c.Retry.Layer, c.Retry.Errors = probes.LayerAround, []string{"HttpServerErrorException"}
		}, "GET", "eof", "Add " + around + " to the list of the retry layer that calls RestTemplate (around it)", false},
		{"one attempt, an empty list", func(c *probes.Client) { c.Retry.Attempts, c.Retry.Errors = 1, nil }, "GET", "eof", "Add " + noAnswer + " and " + socket + " to the list of the retry layer that calls Apache HttpClient 4.5 (inside RestTemplate: an interceptor or a request factory), and make 2 attempts (now 1), for idempotent methods only: ", false},
		{"one attempt, and all is listed", func(c *probes.Client) {
			c.Retry.Attempts, c.Retry.Errors = 1, []string{"java.io.IOException"}
		}, "GET", "eof", "Let the retry policy make 2 attempts (now 1), for idempotent methods only: the request may have been executed.", false},
		{"a method that is left out, and all is listed", func(c *probes.Client) {
			c.Retry.Methods, c.Retry.Errors = []string{"HEAD", "PUT"}, []string{"java.io.IOException"}
		}, "GET", "eof", "Let the retry policy repeat a GET, too (now HEAD, PUT only): the request may have been executed.", false},
		{"a method that is left out, and half is listed", func(c *probes.Client) {
			c.Retry.Methods, c.Retry.Errors = []string{"HEAD"}, []string{"NoHttpResponseException"}
		}, "GET", "eof", "Add " + socket + " to the list of the retry layer that calls Apache HttpClient 4.5 (inside RestTemplate: an interceptor or a request factory), and let it repeat a GET, too (now HEAD only), for idempotent methods only: ", false},
		{"a POST that is left out", func(c *probes.Client) {
			c.Retry.Methods, c.Retry.Errors = []string{"GET"}, []string{"NoHttpResponseException"}
		}, "POST", "eof", "", false},
		{"no policy", func(c *probes.Client) { c.Retry = nil }, "GET", "eof", "Let Apache HttpClient 4.5 send again what is idempotent, so that " + noAnswer + " or " + socket + " does not reach the application: `HttpClientBuilder.create().setRetryHandler(", false},
		{"no policy, and no retry of its own", func(c *probes.Client) { *c = probes.Client{Kind: "aiohttp"} }, "GET", "eof", "Add `aiohttp.ServerDisconnectedError` and `aiohttp.ClientOSError` to the errors that the application retries, for idempotent methods only", false},
		{"no policy, and a POST", func(c *probes.Client) { c.Retry = nil }, "POST", "eof", "Add " + noAnswer + " and " + socket + " to the errors that the application retries, for idempotent methods only", false},
		{"a list that goes too far", errors("java.io.IOException"), "POST", "eof", "Restrict " + noAnswer + " in the retry list to idempotent methods (and tell perch by `retry.methods`): a POST may have been executed already.", false},
		{"a client that goes too far", func(c *probes.Client) {
			*c = probes.Client{Kind: "okhttp"}
		}, "POST", "eof", "Turn off OkHttp 3's own retry for a POST: it sends again what may have been executed already.", false},
		{"a client that repeats it itself", func(c *probes.Client) { c.AutomaticRetries = probes.SwitchDefault }, "GET", "eof", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := withClient(idleInput(time.Minute, rungAt(0, 1500*time.Millisecond, tt.reason)))
			tt.change(in.Spec.Client)
			in.Spec.Method = tt.method
			advice := judgeOne(t, in, 0).Advice
			then := slices.IndexFunc(advice, func(s string) bool {
				return strings.HasPrefix(s, "2. ") && !strings.HasPrefix(s, "2. For the API's owner")
			})
			or := slices.ContainsFunc(advice, func(s string) bool { return strings.HasPrefix(s, "2b. Or move that retry around RestTemplate") })
			if or != tt.or || (then >= 0) != (tt.want != "") || then >= 0 && !strings.HasPrefix(advice[then], "2. "+tt.want) {
				t.Errorf("want %q, moving the layer %t:\n%s", tt.want, tt.or, strings.Join(advice, "\n"))
			}
		})
	}
}
