package trace

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"perch.example/probes"
)

// healthCheck is the gRPC method of a probe that names none.
const healthCheck = "grpc.health.v1.Health/Check"

func rpcMethod(g probes.GRPC) string { return cmp.Or(g.Method, healthCheck) }

// topAttributes say what the outcome is.
func (m *maker) topAttributes() attributes {
	var a attributes
	o := m.o
	m.names(&a)
	a.text("perch.run_id", m.run.RunID)
	a.text("perch.verdict", string(o.Verdict))
	a.text("perch.reason", string(o.Reason))
	a.text("perch.diagnosis", string(o.Diagnosis))
	a.text("perch.message", o.Message)
	a.seconds("perch.hold_seconds", o.Hold)
	a.flag("perch.unused", o.Unused)
	a.text("perch.closed_by", o.ClosedBy)
	a.text("perch.retry", string(o.Retry.Result))
	a.text("perch.application_retry", string(o.Retry.Application))
	a.flag("perch.accepted", o.Accepted != nil)
	if o.Client != nil {
		a.text("perch.client", o.Client.Kind)
	}
	a.positive("perch.attempts", int64(len(o.Attempts)))
	a.positive("perch.attempts_left_out", int64(len(o.Attempts)-len(m.shown)))
	if o.Verdict == probes.VerdictFail {
		a.text("error.type", string(o.Reason))
	}
	return a
}

// names stand on every span, so that each can be searched for by itself.
func (m *maker) names(a *attributes) {
	a.text("perch.target", m.o.Target)
	a.text("perch.probe", m.o.Probe)
	a.text("perch.kind", string(m.o.Kind))
	a.text("perch.vantage", m.run.Vantage)
}

// attemptAttributes say what a request was and what it showed: no header, no query,
// no body.
func (m *maker) attemptAttributes(i int) attributes {
	var a attributes
	at := m.o.Attempts[i]
	if m.spec.GRPC != nil {
		m.rpc(&a, at)
	} else {
		a.text("http.request.method", at.Method)
		a.positive("http.response.status_code", int64(at.Status))
		a.positive("http.request.resend_count", m.resendCount(i))
	}
	server(&a, m.spec.URL)
	network(&a, at)
	if !at.OK() {
		a.text("error.type", string(at.Reason))
	}
	m.names(&a)
	a.text("perch.connection", string(at.Connection))
	a.text("perch.reason", string(at.Reason))
	a.seconds("perch.idle_seconds", at.IdleTime)
	a.seconds("perch.connection_age_seconds", at.ConnectionAge)
	a.positive("perch.requests_before", int64(at.Served))
	a.positive("perch.request_bytes", at.RequestBytes)
	if at.RequestBytesAcked != nil {
		a.number("perch.request_bytes_acked", *at.RequestBytesAcked)
	}
	a.positive("perch.response_bytes", at.ResponseBytes)
	a.seconds("perch.rtt_seconds", at.RTT)
	a.seconds("perch.own_delay_seconds", at.Delay)
	if call := m.call(i); call != nil {
		a.positive("perch.burst", int64(call.Burst))
		a.positive("perch.call", int64(call.Number))
	}
	return a
}

func (m *maker) rpc(a *attributes, at probes.Attempt) {
	service, method, _ := strings.Cut(rpcMethod(*m.spec.GRPC), "/")
	a.text("rpc.system", "grpc")
	a.text("rpc.service", service)
	a.text("rpc.method", method)
	if at.GRPC != nil {
		a.number("rpc.grpc.status_code", int64(at.GRPC.Code))
	}
}

// server says where the request went. A path that was redirected is the first one.
func server(a *attributes, u *url.URL) {
	if u == nil {
		return
	}
	a.text("server.address", u.Hostname())
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		a.positive("server.port", int64(n))
	}
	a.text("url.scheme", u.Scheme)
	a.text("url.path", cmp.Or(u.EscapedPath(), "/"))
}

func network(a *attributes, at probes.Attempt) {
	if at.Remote.IsValid() {
		a.text("network.peer.address", at.Remote.Addr().Unmap().String())
		a.positive("network.peer.port", int64(at.Remote.Port()))
	}
	if at.Local.IsValid() {
		a.text("network.local.address", at.Local.Addr().Unmap().String())
		a.positive("network.local.port", int64(at.Local.Port()))
	}
	name, version, found := strings.Cut(at.Proto, "/")
	if !found {
		return
	}
	a.text("network.protocol.name", strings.ToLower(name))
	if version == "2.0" {
		version = "2" // as the conventions write it
	}
	a.text("network.protocol.version", version)
}
