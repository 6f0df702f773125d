package diagnose

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestAnotherWayIsNoChangeOfThePath: where the config has the probe go another
// way, what is known begins anew, and nothing is said to have moved.
func TestAnotherWayIsNoChangeOfThePath(t *testing.T) {
	t.Parallel()
	const s = time.Second
	usual, other := closingPath(60*s, 30*s, 59*s, 61*s, 120*s), closingPath(20*s, 30*s, 59*s, 61*s, 120*s)
	at := func(raw string) *url.URL {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for name, change := range map[string]func(*probes.Spec){
		"nothing":     func(*probes.Spec) {},
		"port":        func(s *probes.Spec) { s.URL = at("https://api.partner.example:8443/v1/calendar") },
		"path":        func(s *probes.Spec) { s.URL = at("https://api.partner.example/v2") },
		"protocol":    func(s *probes.Spec) { s.Protocol = probes.ProtocolH2 },
		"gRPC":        func(s *probes.Spec) { s.Protocol, s.GRPC = probes.ProtocolHTTP1, &probes.GRPC{} },
		"ping":        func(s *probes.Spec) { s.Client = &probes.Client{Kind: "grpc-go", HTTP2Ping: time.Second} },
		"proxy":       func(s *probes.Spec) { s.Way.Proxy.URL = at("http://proxy.example:3128") },
		"environment": func(s *probes.Spec) { s.Way.Proxy.Environment = true },
		"addresses":   func(s *probes.Spec) { s.Way.Addresses = probes.AddressesAll },
		"family":      func(s *probes.Spec) { s.Way.Family = probes.IPv6Only },
		"source":      func(s *probes.Spec) { s.Way.Source = netip.MustParseAddr("10.0.0.7") },
		"socket":      func(s *probes.Spec) { s.Way.Socket = "/run/api.sock" },
		"server name": func(s *probes.Spec) { s.TLS.ServerName = "other.example" },
		"Host":        func(s *probes.Spec) { s.Headers = []probes.Field{{Name: "host", Value: "other.example"}} },
	} {
		now := other
		change(&now.Spec)
		outcomes, bound := after(usual, usual, usual, usual, now, now, now)
		told, said := changes(outcomes)
		if name == "nothing" {
			if len(told) != 1 || told[0] != 6 {
				t.Errorf("on the same way: told in runs %v: %q", told, said)
			}
			continue
		}
		if told != nil || bound.Known.Measured != 20*s || bound.Known.Runs != 3 || bound.Without != (probes.Bracket{}) {
			t.Errorf("another %s: told in runs %v: %q; known is %+v", name, told, said, bound)
		}
	}
}

// TestTheWayOfAnOlderPerchIsThisOne: its state says nothing of the way, and is
// not forgotten.
func TestTheWayOfAnOlderPerchIsThisOne(t *testing.T) {
	t.Parallel()
	in := silentPath(3*time.Second, 2*time.Second, 4*time.Second)
	_, bound := after(in, in)
	bound.Way = ""
	in.Last.Bound = bound
	if got := NextBound(in); got.Known.Runs != 3 || got.Way == "" {
		t.Errorf("known is %+v", got)
	}
}

// TestPacketsThatExplainNothing: that TCP keep-alive kept a connection is said
// only of a path that forgot before, of packets that left before it did, and that
// went as far.
func TestPacketsThatExplainNothing(t *testing.T) {
	t.Parallel()
	const s = time.Second
	lives := func(every time.Duration) Input {
		in := silentPath(time.Hour, 2*s, 10*s)
		in.Spec.Client = &probes.Client{Kind: "go-net-http", TCPKeepAlive: every}
		return in
	}
	proxied := lives(s)
	proxied.Observations[1].Path.TCPEnds = probes.TCPEndsBeforePeer
	for name, test := range map[string]struct {
		without, with Input
		says          bool
	}{
		"packets on a path that forgot":    {silentPath(3*s, 2*s, 4*s, 10*s), lives(s), true},
		"on one that forgot, and resets":   {forgettingPath(probes.ReasonReset, 3*s, 2*s, 4*s, 10*s), lives(s), true},
		"a server's FIN":                   {closingPath(3*s, 2*s, 4*s, 10*s), lives(s), false},
		"none left within the hold":        {silentPath(3*s, 2*s, 4*s, 10*s), lives(15 * s), false},
		"none left before it would forget": {silentPath(3*s, 2*s, 4*s, 10*s), lives(5 * s), false},
		"a proxy answers them":             {silentPath(3*s, 2*s, 4*s, 10*s), proxied, false},
	} {
		outcomes, _ := after(test.without, test.with)
		var said []string
		for _, o := range outcomes[1] {
			said = append(said, o.Message)
		}
		if got := strings.Contains(strings.Join(said, "\n"), "kept it"); got != test.says {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// TestPacketsThatDidNotHelp: where a path forgot in spite of TCP keep-alive, it is
// no remedy, neither as it is nor anew, and the client has a danger band.
func TestPacketsThatDidNotHelp(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for every, helps := range map[time.Duration]bool{5 * s: false, 24 * s: true} {
		in := silentPath(20*s, 4*s, 10*s, 25*s, 45*s)
		in.Spec.Client = &probes.Client{Kind: "go-net-http", TCPKeepAlive: every}
		for _, o := range Judge(in)[2:] {
			advice := strings.Join(o.Advice, "\n")
			if o.Diagnosis != probes.DiagnosisSilentDrop || strings.Contains(advice, "as it is") || strings.Contains(advice, "did not keep it") == helps || strings.Contains(advice, "tcp_keep_alive "+human(every)+" ->") != helps {
				t.Errorf("every %s, held %s: %s, advice %q", every, o.Hold, o.Diagnosis, o.Advice)
			}
			if !helps && (o.Client == nil || o.Client.Band == nil) {
				t.Errorf("every %s, held %s: no danger band", every, o.Hold)
			}
		}
	}
}
