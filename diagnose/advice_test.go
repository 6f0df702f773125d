package diagnose

import (
	"strings"
	"testing"
	"time"

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
	one := func(b *build) Input { return idleInput(time.Minute, b) }
	tests := []struct {
		name string
		in   Input
		i    int
		want []string
	}{
		{"ticks widen the margin", ticks, 0, []string{"at or below 3.5 s, which is the measured 5 s less"}},
		{"never below half of a short timeout", one(rungAt(0, s, "idle_fin").closed(150*time.Millisecond, "fin")), 0, []string{"at or below 70 ms"}},
		{"in Go's words", goClient, 0, []string{"First: Go net/http's max_idle none -> 315 s: `&http.Transport{IdleConnTimeout: 315 * time.Second}`", "before the 10 min that keep_alive expects"}},
		{"no client: common ones", one(rungAt(0, 1500*time.Millisecond, "idle_fin").closed(s, "fin")), 0, []string{"With their defaults these would use", "Apache HttpClient 4.5 at 998 ms to 2 s"}},
		{"nothing to change", goDefault, 0, []string{"First: leave Go net/http's idle limits as they are"}},
		{"whole seconds only", jdk, 0, []string{" -> 900 ms (its own setting counts whole seconds"}},
		{"silence, in its settings", silentNone, 1, []string{"For Go net/http that is tcp_keep_alive none -> 360 s, or max_idle none -> 360 s."}},
		{"silence, kept away already", silent, 1, []string{"Go net/http does so already."}},
		{"503 and Retry-After", withClient(one(limited("unavailable", 503))), 0, []string{"First: limit how often", "\nAs well: send less, and wait the 7 s that the API asks for"}},
		{"down and Retry-After", down, 0, []string{"First: send less, and wait the 7 s"}},
		{"certificate: expired", certificate("x509: certificate has expired or is not yet valid: current time 2026-11-30T12:00:00Z is after 2026-11-29T12:00:00Z"), 0, []string{"it has expired"}},
		{"certificate: not yet", certificate("x509: certificate has expired or is not yet valid: current time 2026-11-30T12:00:00Z is before 2026-12-29T12:00:00Z"), 0, []string{"not valid yet"}},
		{"certificate: host", certificate("x509: certificate is valid for a.example, not b.example"), 0, []string{"made for another host"}},
		{"certificate: address", certificate("x509: cannot validate certificate for 192.0.2.1 because it doesn't contain any IP SANs"), 0, []string{"made for another host"}},
		{"certificate: authority", certificate("x509: certificate signed by unknown authority"), 0, []string{"First: give perch and the application the CA"}},
		{"certificate: unknown cause", certificate(""), 0, []string{"right CA"}},
		{"silence", silent, 1, []string{"more often than every 400 s", "`&http.Transport{DialContext: (&net.Dialer{KeepAlive: 360 * time.Second}).DialContext}`", "between 300 s, which worked, and 400 s", "Looking at the connection before use does not help"}},
		{"stalled", withClient(one(rungAt(0, 30*s, "no_response"))), 0, []string{"`HttpClientBuilder.create().setDefaultRequestConfig(RequestConfig.custom().setSocketTimeout(1000).build())`", "may still be running"}},
		{"undeclared close", one(rungAt(0, s, "idle_fin").closed(20*time.Millisecond, "fin")), 0, []string{"First: limit how often", "For the API's owner: ", "should have said Connection: close"}},
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

// TestAdviceSaysWhatMayHaveRun: whoever is told to repeat is told what that can
// do, for every reason and setting.
func TestAdviceSaysWhatMayHaveRun(t *testing.T) {
	for _, reason := range unanswered() {
		for _, automatic := range []probes.Switch{probes.SwitchDefault, probes.SwitchNone} {
			in := withClient(idleInput(time.Minute, rungAt(0, 1500*time.Millisecond, reason)))
			in.Spec.Client.AutomaticRetries = automatic
			for _, line := range judgeOne(t, in, 0).Advice {
				repeats := strings.Contains(line, "retry list") || strings.Contains(strings.ToLower(line), "repeat")
				if repeats && !strings.Contains(line, "executed") && !strings.Contains(line, "may still be running") {
					t.Errorf("%s: %q tells to repeat and not what that can do", reason, line)
				}
			}
		}
	}
}
