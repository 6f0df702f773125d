package lab_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"perch.example/lab"
)

// answered are the scenarios that open: what a client that reuses, where the
// scenario asks for it, sees of the spoiled exchange.
func answered() map[string]wanted {
	return map[string]wanted{
		"healthy":              {end: endOpen, contains: `"2026-03-03"`},
		"certificate_expiring": {end: endOpen, contains: `"2026-03-03"`},
		"incident":             {end: endFIN, nothing: true},

		"idle_close_notify":      {end: endFIN, nothing: true},
		"idle_close_notify_only": {end: endFIN, nothing: true},
		"idle_bytes":             {end: endFIN, contains: "408 Request Timeout"},
		"idle_bytes_leftover":    {end: endOpen, contains: "end of page"},
		"idle_fin":               {end: endFIN, nothing: true},
		"idle_fin_half":          {end: endFIN, nothing: true},
		"idle_fin_unannounced":   {end: endFIN, nothing: true},
		"idle_rst":               {end: endRST, nothing: true},
		"blackhole":              {end: endOpen, nothing: true},
		"crossed_close":          {end: endFIN, nothing: true},

		"eof":              {end: endFIN, nothing: true},
		"eof_close_notify": {end: endFIN, nothing: true},
		"reset":            {end: endRST, nothing: true},
		"no_response":      {end: endOpen, nothing: true},

		"partial_head":         {end: endFIN, contains: "HTTP/1.1 200 OK\r\n", lacks: "\r\n\r\n"},
		"partial_head_reset":   {end: endRST, contains: "HTTP/1.1 200 OK\r\n", lacks: "\r\n\r\n"},
		"partial_head_stall":   {end: endOpen, contains: "HTTP/1.1 200 OK\r\n", lacks: "\r\n\r\n"},
		"partial_head_drip":    {end: endOpen, contains: "H", lacks: "\r\n\r\n"},
		"partial_body":         {end: endFIN, contains: "\r\n\r\n{", lacks: "2026-03-03"},
		"partial_body_reset":   {end: endRST, contains: "\r\n\r\n{", lacks: "2026-03-03"},
		"partial_body_stall":   {end: endOpen, contains: "\r\n\r\n{", lacks: "2026-03-03"},
		"partial_body_chunked": {end: endFIN, contains: "\r\n\r\n5", lacks: "\r\n0\r\n"},
		"partial_body_drip":    {end: endOpen, contains: "\r\n\r\n{", lacks: "2026-03-03"},

		"bad_response":              {end: endOpen, contains: "what is HTTP\r\n"},
		"bad_response_ssh":          {end: endFIN, contains: "SSH-2.0-OpenSSH_9.2p1 Lab\r\nInvalid"},
		"bad_response_tls":          {end: endFIN, contains: "\x15\x03\x03"},
		"bad_response_lengths":      {end: endOpen, contains: "\r\nContent-Length: 5\r\n"},
		"bad_response_chunk":        {end: endOpen, contains: "\r\n\r\nzz\r\n"},
		"bad_response_endless_head": {end: endOpen, contains: "\r\nX-Lab: aaa", lacks: "\r\n\r\n"},
		"too_large":                 {end: endOpen, contains: "\r\n\r\n4000\r\n0123456789abcdef"},
		"too_large_gzip":            {end: endOpen, contains: "\r\nContent-Encoding: gzip\r\n"},

		"proxy_upstream_reset":    {end: endOpen, contains: "upstream connect error or disconnect/reset before headers"},
		"rate_limited":            {end: endOpen, contains: "429 Too Many Requests"},
		"unavailable":             {end: endOpen, contains: "503 Service Unavailable", lacks: "Retry-After"},
		"unavailable_retry_after": {end: endOpen, contains: "Retry-After: 1\r\n"},
		"unavailable_502":         {end: endOpen, contains: "502 Bad Gateway"},
		"unavailable_504":         {end: endOpen, contains: "504 Gateway Timeout"},
		"unauthorized":            {end: endOpen, contains: "401 Unauthorized"},
		"unauthorized_403":        {end: endOpen, contains: "403 Forbidden"},
		"redirected":              {end: endOpen, contains: "Location: https://elsewhere.invalid/"},
		"status":                  {end: endOpen, contains: "404 Not Found"},
		"status_500":              {end: endOpen, contains: "500 Internal Server Error"},
		"slow":                    {end: endOpen, contains: `"2026-03-03"`},
		"expectation":             {end: endOpen, contains: `"2026-03-02"`, lacks: "2026-03-03"},
		"no_keep_alive":           {end: endFIN, nothing: true},
		"no_keep_alive_http10":    {end: endFIN, nothing: true},
	}
}

// options make the timed scenarios quick, yet not so quick that a busy machine
// is too slow to ask.
func options() lab.Options {
	return lab.Options{IdleTimeout: time.Second, Delay: 30 * time.Millisecond}
}

func TestAnswersOnTheWire(t *testing.T) {
	t.Parallel()
	for name, want := range answered() {
		for _, secure := range []bool{false, true} {
			t.Run(name+map[bool]string{false: "/plain", true: "/tls"}[secure], func(t *testing.T) {
				t.Parallel()
				o := options()
				o.TLS = secure
				if name == "bad_response_tls" && secure {
					o.TLS = false // the alert would be taken for TLS's own
				}
				got := exchange(t, start(t, name, o), want)
				if got.end != want.end {
					t.Errorf("the connection ended with %q, want %q", got.end, want.end)
				}
				if want.nothing && got.text != "" {
					t.Errorf("got %.200q, want nothing", got.text)
				}
				if !strings.Contains(got.text, want.contains) {
					t.Errorf("got %.200q, want %q in it", got.text, want.contains)
				}
				if want.lacks != "" && strings.Contains(got.text, want.lacks) {
					t.Errorf("got %.200q, want no %q in it", got.text, want.lacks)
				}
			})
		}
	}
}

// unopened are the scenarios in which no exchange comes about: what dialling,
// or shaking hands and asking, ends in.
func unopened() map[string]func(error) bool {
	return map[string]func(error) bool{
		"dns":             func(err error) bool { return dnsError(err).IsNotFound },
		"dns_servfail":    func(err error) bool { return dnsError(err).IsTemporary && !dnsError(err).IsNotFound },
		"dns_silent":      func(err error) bool { return dnsError(err).IsTimeout },
		"refused":         is(syscall.ECONNREFUSED),
		"connect_timeout": timeout,
		"connect_failed":  is(syscall.ENETUNREACH),

		"certificate":               certificateError(x509.Expired),
		"certificate_wrong_host":    func(err error) bool { return errors.As(err, new(x509.HostnameError)) },
		"certificate_unknown":       func(err error) bool { return errors.As(err, new(x509.UnknownAuthorityError)) },
		"tls":                       alert("handshake failure"),
		"tls_plain":                 notTLS("HTTP/"),
		"tls_garbage":               notTLS("\xde\xad\xbe\xef"),
		"tls_eof":                   func(err error) bool { return ending(err) == endFIN },
		"tls_reset":                 is(syscall.ECONNRESET),
		"tls_stall":                 timeout,
		"tls_old":                   alert("protocol version not supported"),
		"tls_client_certificate":    alert("handshake failure"),
		"tls_client_certificate_13": alert("certificate required"),
	}
}

func TestOpeningsFail(t *testing.T) {
	t.Parallel()
	for name, want := range unopened() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait := patience
			switch name {
			case "dns_silent", "connect_timeout", "tls_stall": // the timeout is what is wanted
				wait = 2 * quiet
			}
			err := openAndAsk(t, start(t, name, options()), wait)
			if err == nil || !want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEveryScenarioIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]int{}
	count(tested, answered())
	count(tested, unopened())
	count(tested, h2Answered())
	count(tested, proxied())
	for _, s := range lab.Scenarios() {
		if n := tested[s.Name]; n != 1 {
			t.Errorf("scenario %s stands in %d of the tables, want 1", s.Name, n)
		}
		if s.About == "" || s.Reason == "" {
			t.Errorf("scenario %s does not say what it is about", s.Name)
		}
	}
	if got, want := len(lab.Scenarios()), len(tested); got != want {
		t.Errorf("%d scenarios, %d tested", got, want)
	}
}

func count[T any](tested map[string]int, table map[string]T) {
	for name := range table {
		tested[name]++
	}
}

// openAndAsk returns the first error of dialling, shaking hands, asking and
// reading.
func openAndAsk(t *testing.T, s *lab.Server, wait time.Duration) error {
	t.Helper()
	dialer := s.Dialer()
	dialer.Timeout = wait
	host := s.Host()
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "80")
	}
	tcp, err := dialer.Dial("tcp", host)
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = tcp.Close() })
	if err := tcp.SetDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	config := s.ClientConfig()
	config.ServerName = "127.0.0.1"
	stream := tls.Client(tcp, config)
	ask := []byte(request)
	if _, err := stream.Write(ask); err != nil {
		return err
	}
	_, err = stream.Read(ask)
	return err
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func timeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func dnsError(err error) net.DNSError {
	var d *net.DNSError
	if errors.As(err, &d) {
		return *d
	}
	return net.DNSError{}
}

func certificateError(reason x509.InvalidReason) func(error) bool {
	return func(err error) bool {
		var invalid x509.CertificateInvalidError
		return errors.As(err, &invalid) && invalid.Reason == reason
	}
}

func alert(text string) func(error) bool {
	return func(err error) bool { return strings.Contains(err.Error(), "remote error: tls: "+text) }
}

func notTLS(begin string) func(error) bool {
	return func(err error) bool {
		var header tls.RecordHeaderError
		return errors.As(err, &header) && strings.HasPrefix(string(header.RecordHeader[:]), begin)
	}
}
