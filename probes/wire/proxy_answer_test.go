package wire_test

import (
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// A proxy that was asked is told from one that could not be reached, and one that
// would say the same again from one that may not.
func TestProxyAnswer(t *testing.T) {
	said := func(answer string) func(*peer) {
		return func(p *peer) { p.request(); p.say(answer); p.linger() }
	}
	socks := func(reply byte) func(*peer) {
		return func(p *peer) {
			p.take(3)
			p.say("\x05\x00")
			p.take(15)
			p.say("\x05" + string(reply) + "\x00\x01\x00\x00\x00\x00\x00\x00")
			p.linger()
		}
	}
	for name, tt := range map[string]struct {
		scheme string
		script func(*peer)
		status int
		final  bool
	}{
		"401":                 {"http", said("HTTP/1.1 401 Unauthorized\r\n\r\n"), 401, true},
		"403":                 {"http", said("HTTP/1.1 403 Forbidden\r\n\r\n"), 403, true},
		"407":                 {"http", said("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), 407, true},
		"a redirect":          {"http", said("HTTP/1.1 302 Found\r\nLocation: http://login.test/\r\n\r\n"), 302, true},
		"408":                 {"http", said("HTTP/1.1 408 Request Timeout\r\n\r\n"), 408, false},
		"429":                 {"http", said("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n\r\n"), 429, false},
		"502":                 {"http", said("HTTP/1.1 502 Bad Gateway\r\n\r\n"), 502, false},
		"garbage":             {"http", said("SSH-2.0-OpenSSH_9.2\r\n\r\n"), 0, false},
		"closed":              {"http", func(p *peer) { p.request(); p.fin() }, 0, false},
		"silent":              {"http", func(p *peer) { p.request(); p.linger() }, 0, false},
		"socks, no method":    {"socks5h", func(p *peer) { p.take(3); p.say("\x05\xff"); p.linger() }, 0, true},
		"socks, ruleset":      {"socks5h", socks(2), 0, true},
		"socks, host refused": {"socks5h", socks(5), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil, tt.script)
			o := byName(s.options(nil))
			o.Proxy = &wire.Proxy{Scheme: tt.scheme, Host: "127.0.0.1", Port: port(s.addr)}
			o.Port, o.Connect = "80", 5*time.Second
			if name == "silent" {
				o.Connect, o.Dial = 50*time.Millisecond, unhurried
			}
			_, e := wire.Open(t.Context(), o)
			mustBe(t, e, probes.ReasonProxy)
			a := e.ProxyAnswer
			if a == nil || a.Status != tt.status || a.Final != tt.final {
				t.Fatalf("%+v, want status %d, final %v (%s)", a, tt.status, tt.final, e.Error)
			}
			if name == "429" && a.Header.Get("Retry-After") != "7" {
				t.Errorf("header %v", a.Header)
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		o := wire.Options{Host: "127.0.0.1", Port: "443", Connect: 5 * time.Second}
		o.Proxy = &wire.Proxy{Scheme: "http", Host: "127.0.0.1", Port: port(refusedAddr(t))}
		_, e := wire.Open(t.Context(), o)
		mustBe(t, e, probes.ReasonProxy)
		if e.ProxyAnswer != nil {
			t.Errorf("%+v, and it was not asked", e.ProxyAnswer)
		}
	})
}
