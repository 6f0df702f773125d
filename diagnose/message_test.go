package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func TestHuman(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 40 * time.Microsecond: "0.04 ms", 4 * time.Microsecond: "0.004 ms", 999600 * time.Microsecond: "1 s", 9999600 * time.Microsecond: "10 s", 200 * time.Microsecond: "0.2 ms", 3200 * time.Microsecond: "3.2 ms", 142 * time.Millisecond: "142 ms",
		1001 * time.Millisecond: "1.001 s", 1500 * time.Millisecond: "1.5 s", time.Minute: "60 s", 350 * time.Second: "350 s",
		12*time.Minute + 30*time.Second: "12.5 min", 60 * time.Hour: "2.5 days", -time.Second: "-1 s",
	} {
		if got := human(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

// TestMeaning: every reason has words of its own.
func TestMeaning(t *testing.T) {
	seen := map[string]probes.Reason{}
	for _, r := range probes.Reasons() {
		m := Meaning(r)
		if other, ok := seen[m]; ok || m == "something unknown happened" {
			t.Errorf("%s means %q, like %s", r, m, other)
		}
		seen[m] = r
	}
}

func TestRungMessages(t *testing.T) {
	const s = time.Second
	behind := rungAt(0, 61*s, "idle_fin").closed(60*s, "fin")
	behind.o.Path.TCPEnds = probes.TCPEndsBeforePeer
	tests := []struct {
		name string
		rung *build
		want string
	}{
		{"alive", rungAt(0, 59*s, "ok"), "the connection still worked after 59 s idle: it answered 200 in 139 ms"},
		{"closed in time", rungAt(0, 61*s, "idle_fin").closed(60002*time.Millisecond, "fin"), "the connection was closed by the peer after 60.002 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered; a fresh one worked"},
		{"closed later", rungAt(0, 120*s, "idle_rst").closed(100*s, "rst"), "the connection was reset by the peer after 100 s idle, after the expected 60 s; reuse at 120 s failed in 0.2 ms with nothing answered; a fresh one worked"},
		{"close_notify", rungAt(0, 61*s, "idle_close_notify").closed(60*s, "close_notify"), "the connection was closed (TLS close_notify) by the peer after 60 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered; a fresh one worked"},
		{"before the peer", behind, "the connection was closed by something on the path after 60 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered; a fresh one worked"},
		{"crossed", rungAt(0, 60*s, "crossed_close"), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: a close crossed the request on its way; a fresh one worked"},
		{"blackhole", rungAt(0, 400*s, "blackhole"), "the connection was dead without a word after 400 s idle: nothing acknowledged the request in 0.2 ms; a fresh one worked"},
		{"stalled", rungAt(0, 30*s, "no_response"), "the connection took the request after 30 s idle and gave no answer in 0.2 ms; a fresh one worked"},
		{"control failed", rungAt(0, 30*s, "eof").control("refused"), "the reuse after 30 s idle failed, and the control on a fresh connection too: the connection was refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judgeOne(t, idleInput(time.Minute, tt.rung), 0).Message; got != tt.want {
				t.Errorf("\n %q, want\n %q", got, tt.want)
			}
		})
	}
}

func TestNothingHeldMessage(t *testing.T) {
	closing := rungAt(0, time.Second, "ok")
	closing.o.Attempts = closing.o.Attempts[:1]
	closing.o.Attempts[0].Reason = probes.ReasonNoKeepAlive
	const want = "nothing could be held: the answer (200) ends its connection"
	if got := judgeOne(t, idleInput(time.Minute, closing), 0).Message; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRetryHidden: a retry of the client's own is not called its retry layer's.
func TestRetryHidden(t *testing.T) {
	rung := func() Input { return one(rungAt(0, 30*time.Second, "eof")) }
	for _, tt := range []struct {
		in   Input
		want probes.RetryOutcome
	}{
		{withAutomatic(rung()), probes.RetryOutcome{Result: "recovered", Application: "covered", Hidden: true}},
		{covered(rung()), probes.RetryOutcome{Result: "recovered", Application: "covered"}},
		{rung(), probes.RetryOutcome{Result: "recovered", Application: "unknown"}},
	} {
		if got := judgeOne(t, tt.in, 0).Retry; got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
}

func TestClosedBy(t *testing.T) {
	tests := []struct {
		ends probes.TCPEnds
		how  probes.HowClosed
		want string
	}{
		{"peer", "fin", "peer"}, {"unknown", "fin", "peer"}, {"before_peer", "fin", "unknown"}, {"peer", "silent", "unknown"},
	}
	for _, tt := range tests {
		b := rungAt(0, 61*time.Second, "idle_fin").closed(60*time.Second, tt.how)
		b.o.Path.TCPEnds = tt.ends
		if o := judgeOne(t, idleInput(time.Minute, b), 0); o.ClosedBy != tt.want {
			t.Errorf("%s by %s: closed by %q, want %q", tt.how, tt.ends, o.ClosedBy, tt.want)
		}
	}
	if o := judgeOne(t, idleInput(time.Minute, rungAt(0, time.Second, "ok")), 0); o.ClosedBy != "" {
		t.Errorf("no close: closed by %q", o.ClosedBy)
	}
}

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
		{"in Go's words", goClient, 0, []string{"First: Go net/http's max_idle none -> 315 s: `http.Transport{IdleConnTimeout: 315 * time.Second}`", "before the 10 min that keep_alive expects"}},
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
		{"silence", silent, 1, []string{"more often than every 400 s", "`net.Dialer{KeepAlive: 360 * time.Second}`", "between 300 s, which worked, and 400 s", "Looking at the connection before use does not help"}},
		{"stalled", withClient(one(rungAt(0, 30*s, "no_response"))), 0, []string{"`RequestConfig.custom().setSocketTimeout(1000)`", "may still be running"}},
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
