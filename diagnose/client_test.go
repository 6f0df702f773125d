package diagnose

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// TestDeclaredClient holds judging.md's "With a declared client" against the
// judgement: the path closes after 1 s, as expected, so that only the client can
// make it worse; it looks at what is idle for 2 s.
func TestDeclaredClient(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	fin := func(hold time.Duration) Input {
		return idleInput(s, rungAt(0, hold, "idle_fin").closed(s, "fin"))
	}
	rst := idleInput(s, rungAt(0, 1500*ms, "idle_rst").closed(s, "rst"))
	notify := idleInput(s, rungAt(0, 1500*ms, "idle_close_notify").closed(s, "close_notify"))
	instant := idleInput(0, rungAt(0, 1500*ms, "idle_fin").closed(20*ms, "fin"))
	swept := massClose()
	swept.Spec.KeepAlive = time.Minute
	silent := idleInput(0, rungAt(0, s, "blackhole"))
	policy := func(layer probes.RetryLayer, attempts int, errors ...string) *probes.RetryPolicy {
		return &probes.RetryPolicy{Layer: layer, Attempts: attempts, Errors: errors}
	}
	const inside, around = probes.LayerInside, probes.LayerAround
	const wrapped = "org.springframework.web.client.ResourceAccessException"
	tests := []struct {
		name        string
		in          Input
		method      string
		retry       *probes.RetryPolicy
		automatic   probes.Switch
		verdict     probes.Verdict
		application probes.RetryCover
		band        bool
	}{
		{"the error reaches the application", fin(1500 * ms), "GET", policy(inside, 3, wrapped), "none", "fail", "uncovered", true},
		{"around the wrapper the same list covers it", fin(1500 * ms), "GET", policy(around, 3, wrapped), "none", "degraded", "covered", true},
		{"around, the client's own error is never seen", fin(1500 * ms), "GET", policy(around, 3, "org.apache.http.NoHttpResponseException"), "none", "fail", "uncovered", true},
		{"inside, by its last part", fin(1500 * ms), "GET", policy(inside, 3, "NoHttpResponseException"), "none", "degraded", "covered", true},
		{"one attempt covers nothing", fin(1500 * ms), "GET", policy(inside, 1, "NoHttpResponseException"), "none", "fail", "uncovered", true},
		{"no policy is declared", fin(1500 * ms), "GET", nil, "none", "fail", "unknown", true},
		{"the client hides it", fin(1500 * ms), "GET", nil, "", "degraded", "covered", true},
		{"a POST that it does not hide", fin(1500 * ms), "POST", nil, "", "fail", "unknown", true},
		{"a POST that was never accepted may be sent again", fin(1500 * ms), "POST", policy(inside, 3, "java.io.IOException"), "none", "degraded", "covered", true},
		{"a reset while idle", rst, "GET", policy(inside, 3, "NoHttpResponseException"), "none", "fail", "uncovered", true},
		{"a close_notify", notify, "GET", policy(inside, 3, "NoHttpResponseException"), "none", "degraded", "covered", true},

		{"the band's end is outside of it", fin(2 * s), "GET", nil, "none", "pass", "", true},
		{"just inside of it", fin(1999 * ms), "GET", nil, "none", "fail", "unknown", true},
		{"a race before it", idleInput(s, rungAt(0, 990*ms, "eof"), rungAt(5*s, 1500*ms, "idle_fin").closed(s, "fin")), "GET", nil, "none", "degraded", "unknown", true},
		{"a race at its begin", idleInput(s, rungAt(0, 999*ms, "eof"), rungAt(5*s, 1500*ms, "idle_fin").closed(s, "fin")), "GET", nil, "none", "fail", "unknown", true},
		{"read and closed, a POST would be sent twice", idleInput(s, rungAt(0, 1500*ms, "eof"), rungAt(5*s, 1600*ms, "idle_fin").closed(s, "fin")), "POST", policy(inside, 3, "java.io.IOException"), "none", "degraded", "unsafe", true},

		{"closes that do not follow idle age stay what they are", instant, "GET", nil, "none", "degraded", "unknown", true},
		{"a mass close never fires", swept, "GET", nil, "none", "degraded", "", false},
		{"silence is a fail by itself, also where a retry hides it", silent, "GET", policy(inside, 3, "java.io.IOException"), "none", "fail", "covered", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.in
			in.Spec.Client, in.Spec.Method = incidentClient(), tt.method
			in.Spec.Client.Retry, in.Spec.Client.AutomaticRetries = tt.retry, tt.automatic
			o := judgeOne(t, in, 0)
			if o.Verdict != tt.verdict || o.Retry.Application != tt.application {
				t.Errorf("%s, application %q, want %s, %q\n%s\n%s", o.Verdict, o.Retry.Application, tt.verdict, tt.application, o.Message, sentences(o))
			}
			if band := o.Client.Band != nil; band != tt.band {
				t.Errorf("danger band %+v, want one: %t", o.Client.Band, tt.band)
			}
		})
	}
}

// TestTheDeclaredClientsResult: what becomes of the request is said beside the
// words, and of a request that met nothing, nothing.
func TestTheDeclaredClientsResult(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	at := func(hold time.Duration, in func(Input) Input) *probes.ClientOutcome {
		return judgeOne(t, in(idleInput(time.Minute, rungAt(0, hold, "idle_fin").closed(s, "fin"))), 0).Client
	}
	alive := judgeOne(t, withClient(one(rungAt(0, 500*ms, "ok"))), 0).Client
	for name, tt := range map[string]struct {
		got  *probes.ClientOutcome
		want probes.ClientResult
	}{
		"it fails":          {at(1500*ms, withClient), probes.ClientFails},
		"it looks first":    {at(2500*ms, withClient), probes.ClientNotices},
		"it sends it again": {at(1500*ms, withAutomatic), probes.ClientRetries},
		"nothing happened":  {alive, ""},
	} {
		if tt.got.Result != tt.want || (tt.want == "") != (tt.got.Experiences == "") {
			t.Errorf("%s: %+v, want %q", name, *tt.got, tt.want)
		}
	}
}

// The gaps of a policy are those of the protocol that the probe speaks, also where no
// connection was made by which to know it.
func TestGapsOfTheProtocol(t *testing.T) {
	const none, h1, h2 = "", "HTTP/1.1", overH2
	for _, tt := range []struct {
		name   string
		speaks probes.Protocol
		protos [2]string // of the failed attempt, and of the second
		grpc   bool
		want   bool // those of HTTP/2
	}{
		{"HTTP/1.1", "", [2]string{h1, h1}, false, false},
		{"nothing connected", "", [2]string{none, none}, false, false},
		{"h2c", probes.ProtocolH2C, [2]string{h2, h2}, false, true},
		{"h2c, and nothing connected", probes.ProtocolH2C, [2]string{none, none}, false, true},
		{"h2, and nothing connected", probes.ProtocolH2, [2]string{none, none}, false, true},
		{"auto, and HTTP/2 was agreed", probes.ProtocolAuto, [2]string{h2, h2}, false, true},
		{"auto, and HTTP/2 was agreed the second time", probes.ProtocolAuto, [2]string{none, h2}, false, true},
		{"auto, and HTTP/1.1 was agreed", probes.ProtocolAuto, [2]string{none, h1}, false, false},
		{"gRPC, of whose channel the catalog knows nothing", "", [2]string{h2, h2}, true, false},
	} {
		in := httpInput(probes.ReasonRefused, probes.ReasonOK)
		for i, proto := range tt.protos {
			in.Observations[0].Attempts[i].Proto = proto
		}
		in.Spec.Protocol = tt.speaks
		in.Spec.Client = &probes.Client{Kind: "httpx", Retry: &probes.RetryPolicy{}}
		if tt.grpc {
			in.Spec.GRPC = &probes.GRPC{}
		}
		gaps := judgeOne(t, in, 0).RetryGaps
		got := slices.ContainsFunc(gaps, func(g probes.RetryGap) bool { return g.Reason == probes.ReasonIdleGoaway && g.Gap })
		if got != tt.want || (len(gaps) == 0) != tt.grpc {
			t.Errorf("%s: %+v", tt.name, gaps)
		}
	}
}

// TestTheDeclaredClientOverHTTP2: httpx notices a FIN over HTTP/1.1, and not over
// HTTP/2.
func TestTheDeclaredClientOverHTTP2(t *testing.T) {
	for proto, want := range map[string]probes.ClientResult{"HTTP/1.1": probes.ClientNotices, "HTTP/2.0": probes.ClientFails} {
		rung := rungAt(0, 1500*time.Millisecond, "idle_fin").closed(time.Second, "fin")
		for i := range rung.o.Attempts {
			rung.o.Attempts[i].Proto = proto
		}
		in := idleInput(time.Minute, rung)
		in.Spec.Client = &probes.Client{Kind: "httpx"}
		o := judgeOne(t, in, 0).Client
		if o == nil || o.Result != want || (o.Band != nil) != (want == probes.ClientFails) {
			t.Errorf("%s: %+v, want %s", proto, o, want)
		}
	}
}
