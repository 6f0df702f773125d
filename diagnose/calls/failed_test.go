package calls

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFailed: how long a call took is not used where its line says that the server itself did not
// answer, and is where it did, whatever with. Each took 4 ms, and its path, sizes and agent say 502.
func TestFailed(t *testing.T) {
	answers, none := []string{"200", "404", "500"}, []string{"499", "502", "503", "504", "0", "000", "-", "-1"}
	const common = `192.0.2.1 - - [02/Mar/2026:10:00:02 +0000] "GET /502?t=\" 502 - HTTP/1.1" SAID `
	for _, tt := range []struct {
		name, line       string // SAID stands for what says it
		answered, failed []string
	}{
		{"common", common + `502 4ms`, answers, none},
		{"combined", common + `502 "http://shop/502" "curl 502 -" 0.004`, answers, none},
		{"Traefik", common + `502 "-" "502" 502 "shop@docker" "http://10.0.0.1:502" 4ms`, answers, none},
		{"Envoy", `[2026-03-02T10:00:02.000Z] "GET /502 HTTP/2" SAID - 502 502 4 3 "10.0.0.1" "502" "id" "503" "tcp://10.0.0.2:502"`, answers, none},
		{"Envoy's flags", `[2026-03-02T10:00:02.000Z] "GET /UC HTTP/2" 500 SAID 502 502 4 3 "10.0.0.1" "UC"`, []string{"-", `"-"`}, []string{"UC", "UF,URX", "UT", "LR", "UR", "DC"}},
		{"Istio", `[2026-03-02T10:00:02.000Z] "GET /502 HTTP/1.1" SAID - via_upstream - "-" 502 91 4 - "-" "502" "id" "shop"`, answers, none},
		{"HAProxy", `h haproxy[502]: 192.0.2.1:502 [02/Mar/2026:10:00:02.000] in shop/502 0/0/1/3/4 SAID 502 - - ---- 1/1/1/1/0 0/0 "GET /502 HTTP/1.1"`, answers, none},
		{"ALB", `https 2026-03-02T10:00:02.000000Z app/502 192.0.2.1:502 10.0.0.1:502 0.001 0.002 0.001 SAID 200 502 503 "GET https://shop:502/ HTTP/1.1" "502" - -`, answers, none},
		{"ALB's target", `https 2026-03-02T10:00:02.000000Z app/502 192.0.2.1:502 10.0.0.1:502 0.001 0.002 0.001 460 SAID 502 503 "GET https://shop:502/ HTTP/1.1" "502" - -`, answers, none},
		{"Classic ELB", `2026-03-02T10:00:02.000000Z shop 192.0.2.1:502 10.0.0.1:502 0.001 0.002 0.001 SAID 200 0 502 "GET http://shop:502/ HTTP/1.1" "502" - -`, answers, none},
		{"JSON, a number", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"bytes":502,"path":"/502","status":SAID}`, answers, []string{"499", "502", "503", "504", "0", "-1"}},
		{"JSON, a text", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"bytes":"502","status":"SAID"}`, append(answers, "404 Not Found"), append(none, "502 Bad Gateway")},
		{"JSON of Envoy", `{"start_time":"2026-03-02T10:00:02Z","duration":4,"response_flags":"-","response_code":SAID}`, answers, []string{"503", "0"}},
		{"JSON of Envoy, its flags", `{"start_time":"2026-03-02T10:00:02Z","duration":4,"response_flags":"SAID","response_code":500}`, []string{"-", ""}, []string{"UC", "UF,URX"}},
		{"JSON of Traefik", `{"StartUTC":"2026-03-02T10:00:02Z","Duration":4000000,"DownstreamStatus":SAID}`, answers, []string{"499", "502"}},
		{"JSON, ECS", `{"@timestamp":"2026-03-02T10:00:02Z","event.duration":4000000,"http.response.status_code":SAID}`, answers, []string{"502"}},
		{"JSON, a code may be gRPC's", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"code":SAID}`, append(answers, "0", `"OK"`, `"-"`, "14"), []string{"502", `"000"`}},
		{"JSON, a status in words", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":"done","code":SAID}`, answers, []string{"502"}},
		{"JSON, an error", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"error":SAID}`, []string{"null", "false", `""`, `"-"`, "0", "{}", "[]"}, []string{`"reset by peer"`, "true", `{"type":"IOException"}`}},
		{"JSON, an exception", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"exception":SAID}`, []string{"null"}, []string{`"NoHttpResponseException"`}},
		{"JSON, an answer with an error", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"error":"sold out","status":SAID}`, answers, []string{"0", `"none"`, "null"}},
		{"a time", `2026-03-02T10:00:02Z 4ms SAID`, []string{"", "502", "ok", "shop failed"}, []string{"failed", "failed shop"}},
		{"a time, with commas", `2026-03-02T10:00:02Z,0.004,SAID`, []string{"", "ok"}, []string{"failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, said := range slices.Concat(tt.answered, tt.failed) {
				fails := !slices.Contains(tt.answered, said)
				log := readOne(t, strings.Replace(tt.line, "SAID", said, 1))
				want, failed := 4*ms, 0
				if fails {
					want, failed = -1, 1
				}
				if log.Calls[0].Took != want || log.Took != want || log.Failed != failed || log.NoUnit != 0 {
					t.Errorf("%q: took %s, median %s, %d failed; want %s, %t", said, log.Calls[0].Took, log.Took, log.Failed, want, fails)
				}
			}
		})
	}
}

func readOne(t *testing.T, line string) Log {
	t.Helper()
	log, err := Read(strings.NewReader(line+"\n"), "calls.txt")
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return log
}

// TestFailedIsMovedBack: when a call was made follows from how long it took, also where it failed.
func TestFailedIsMovedBack(t *testing.T) {
	log := readOne(t, `192.0.2.1 - - [02/Mar/2026:10:01:02 +0000] "GET / HTTP/1.1" 504 512 "-" "curl" 60.000`)
	if want := time.Date(2026, 3, 2, 10, 0, 2, 0, time.UTC); !log.First.Equal(want) || log.Failed != 1 {
		t.Errorf("%s, %d failed; want %s", log.First, log.Failed, want)
	}
}

// TestFailedInTheMedian: those that failed are not in it, and are counted.
func TestFailedInTheMedian(t *testing.T) {
	log, err := Read(strings.NewReader("1.5 60ms\n2.5 1ms failed\n3.5 1ms failed\n4.5 1ms failed\n5.5 failed\n6.5,,failed"), "calls.txt")
	if err != nil || log.Took != 60*ms || log.Failed != 5 || len(log.Calls) != 6 {
		t.Errorf("%+v, %v", log, err)
	}
}
