package calls

import (
	"strings"
	"testing"
	"time"
)

// TestUnits: how long a call took is read in the unit of whose log it is, and where that is not
// sure, not at all. Each call is answered, or begins, at 10:00:02.
func TestUnits(t *testing.T) {
	const (
		unknown = time.Duration(-1)
		common  = `192.0.2.1 - - [02/Mar/2026:10:00:02 +0000] "GET /a?t=\"x\" HTTP/1.1" 200 512`
	)
	for _, tt := range []struct {
		name, line string
		took       time.Duration
		begins     bool // the time is that of the call
		noUnit     bool
	}{
		{"common", common, unknown, false, false},
		{"combined", common + ` "-" "curl 1.5 [x] 12"`, unknown, false, false},
		{"nginx: $request_time", common + ` "-" "curl" 0.500`, 500 * ms, false, false},
		{"nginx: and upstream's", common + ` "-" "curl" "-" 0.500 0.400`, 500 * ms, false, false},
		{"nginx: named", common + ` "-" "curl" rt=0.250 uct="0.000" urt="0.240"`, 250 * ms, false, false},
		{"nginx: named, all in quotes behind it", common + ` "-" "curl" "-" request_time=0.250 uct="0.000"`, 250 * ms, false, false},
		{"nginx: $gzip_ratio", common + ` "-" "curl" 3.12`, unknown, false, true},
		{"ingress-nginx", common + ` "-" "curl" 45000000 0.010 [shop-80] [] 10.0.0.1:80 12 0.010 200 abc`, 10 * ms, false, false},
		{"ingress-nginx, the real address in brackets", `192.0.2.1 - [192.0.2.1] - - [02/Mar/2026:10:00:02 +0000] "GET / HTTP/1.1" 200 512 "-" "curl" 612 0.010 [shop-80]`, 10 * ms, false, false},
		{"IPv6 in brackets", `[::1] - - [02/Mar/2026:10:00:02 +0000] "GET / HTTP/1.1" 200 512 "-" "curl" 0.500`, 500 * ms, false, false},
		{"Apache's or Tomcat's %D", common + ` "-" "curl" 120000`, unknown, false, true},
		{"Apache's %D after the common format", common + ` 120000`, unknown, false, true},
		{"Apache's %D with its unit", common + ` "-" "curl" 120000us`, 120 * ms, false, false},
		{"Traefik", common + ` "-" "curl" 45 "shop@docker" "http://10.0.0.1:80" 12ms`, 12 * ms, false, false},
		{"Envoy", `[2026-03-02T10:00:02.000Z] "GET / HTTP/2" 200 - 154 12 226 100 "10.0.0.1" "curl" "id" "shop" "tcp://10.0.0.2:80"`, 226 * ms, true, false},
		{"Istio", `[2026-03-02T10:00:02.000Z] "GET / HTTP/1.1" 200 - via_upstream - "-" 156 91 30004 - "-" "curl" "id" "shop" "10.0.0.2:80" outbound|80||shop`, 30004 * ms, true, false},
		{"Istio before 1.6", `[2026-03-02T10:00:02.000Z] "GET / HTTP/1.1" 200 - "-" "-" 0 135 4 3 "-" "curl"`, 4 * ms, true, false},
		{"HAProxy", `Mar  2 10:00:02 h haproxy[14389]: 192.0.2.1:33317 [02/Mar/2026:10:00:02.000] in~ shop/s1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"`, 109 * ms, true, false},
		{"HAProxy, logged before its end", `h haproxy[1]: 192.0.2.1:3 [02/Mar/2026:10:00:02.000] in shop/s1 10/0/30/69/+109 200 +2750 - -`, unknown, true, false},
		{"HAProxy, aborted", `h haproxy[1]: 192.0.2.1:3 [02/Mar/2026:10:00:02.000] in shop/s1 -1/-1/-1/-1/5 400 0 - -`, 5 * ms, true, false},
		{"ALB", `https 2026-03-02T10:00:02.000000Z app/shop/50dc6c 192.0.2.1:2817 10.0.0.1:80 0.100 0.200 0.300 200 200 34 366 "GET https://shop:443/ HTTP/1.1" "curl" - -`, 600 * ms, false, false},
		{"ALB without a target", `h2 2026-03-02T10:00:02.000000Z app/shop/50dc6c 192.0.2.1:2817 - -1 -1 -1 502 - 34 366 "GET https://shop:443/ HTTP/1.1" "curl" - -`, unknown, false, false},
		{"Classic ELB", `2026-03-02T10:00:02.000000Z shop 192.0.2.1:2817 10.0.0.1:80 0.100 0.200 0.300 200 200 0 29 "GET http://shop:80/ HTTP/1.1" "curl" - -`, 600 * ms, true, false},
		{"JSON of nginx", `{"time":"2026-03-02T10:00:02Z","request_length":612,"duration":"9","request_time":"0.500"}`, 500 * ms, false, false},
		{"JSON of Envoy", `{"start_time":"2026-03-02T10:00:02.000Z","duration":4,"response_flags":"-"}`, 4 * ms, true, false},
		{"JSON of Istio, in quotes", `{"start_time":"2026-03-02T10:00:02.000Z","duration":"4","response_code":"200"}`, 4 * ms, true, false},
		{"JSON of Caddy", `{"level":"info","ts":1772445602.0,"logger":"http.log.access.log0","msg":"handled request","duration":0.5,"status":200}`, 500 * ms, false, false},
		{"JSON of Traefik", `{"Duration":4000000,"StartUTC":"2026-03-02T10:00:02.000Z","time":"2026-03-02T10:00:02Z"}`, 4 * ms, true, false},
		{"JSON, ECS", `{"@timestamp":"2026-03-02T10:00:02Z","event.duration":4000000}`, 4 * ms, false, false},
		{"JSON, the name says it", `{"time":"2026-03-02T10:00:02Z","latency_us":4000}`, 4 * ms, false, false},
		{"JSON, the value says it", `{"time":"2026-03-02T10:00:02Z","latency":"0.5s"}`, 500 * ms, false, false},
		{"JSON, nothing says it", `{"time":"2026-03-02T10:00:02Z","duration":4}`, unknown, false, true},
		{"JSON, zap or zerolog", `{"ts":1772445602,"msg":"served","elapsed":4.5}`, unknown, false, true},
		{"JSON of pino", `{"time":1772445602000,"responseTime":12}`, unknown, false, true},
		{"JSON without", `{"time":"2026-03-02T10:00:02Z","status":200}`, unknown, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tt.line+"\n"), "calls.txt")
			if err != nil {
				t.Fatal(err)
			}
			began := time.Date(2026, 3, 2, 10, 0, 2, 0, time.UTC)
			if !tt.begins {
				began = began.Add(-max(0, tt.took))
			}
			if c := got.Calls[0]; c.Took != tt.took || !got.First.Equal(began) || got.Took != tt.took || (got.NoUnit == 1) != tt.noUnit {
				t.Errorf("%s at %s, median %s, %d without a unit; want %s at %s, %t", c.Took, got.First, got.Took, got.NoUnit, tt.took, began, tt.noUnit)
			}
		})
	}
}

// TestSkipped: what was not understood is counted, and the first line of it is known.
func TestSkipped(t *testing.T) {
	got, err := Read(strings.NewReader("time\n\n# a\n"+strings.Repeat("1.5\n", 10)+"{}\njunk\n"), "calls.txt")
	if err != nil || got.Lines != 15 || got.Blank != 2 || got.Skipped != 3 || got.Bad != 14 || len(got.Calls) != 10 {
		t.Errorf("%+v, %v", got, err)
	}
}
