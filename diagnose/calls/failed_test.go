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
	flagsOfAnswers := []string{"-", "NONE", "DI", "FI", "RFCF", "RL", "NR", "UAEX", "DI,RFCF", "DelayInjected", "ResponseFromCacheFilter", "POST"}
	flagsOfFailures := []string{"UC", "UF,URX", "DI,UC", "UH", "UT", "LR", "UR", "DC", "UPE", "NC", "UpstreamConnectionFailure", "DelayInjected,UpstreamConnectionTermination", "DownstreamConnectionTermination"}
	answers, none := []string{"200", "404", "500"}, []string{"499", "502", "503", "504", "0", "000", "-", "-1"}
	noErrors := []string{"null", "false", `""`, `"-"`, "0", "0.0", "{}", "{ }", "[]", `"None"`, `"<nil>"`, `"\u003cnil\u003e"`, `"nil"`, `"null"`, `"false"`, `" "`, `"{}"`, `"OK"`}
	const common = `192.0.2.1 - - [02/Mar/2026:10:00:02 +0000] "GET /502?t=\" 502 - HTTP/1.1" SAID `
	for _, tt := range []struct {
		name, line       string // SAID stands for what says it
		answered, failed []string
	}{
		{"common", common + `502 4ms`, answers, none},
		{"combined", common + `502 "http://shop/502" "curl 502 -" 0.004`, answers, none},
		{"Apache, how long before the request", `192.0.2.1 - - [02/Mar/2026:10:00:02 +0000] 4000us "GET /502 HTTP/1.1" SAID`, answers, none},
		{"Traefik", common + `502 "-" "502" 502 "shop@docker" "http://10.0.0.1:502" 4ms`, answers, none},
		{"Envoy", `[2026-03-02T10:00:02.000Z] "GET /502 HTTP/2" SAID - 502 502 4 3 "10.0.0.1" "502" "id" "503" "tcp://10.0.0.2:502"`, answers, none},
		{"Envoy's flags", `[2026-03-02T10:00:02.000Z] "GET /UC HTTP/2" 500 SAID 502 502 4 3 "10.0.0.1" "UC"`, flagsOfAnswers, append(flagsOfFailures, `"UC"`)},
		{"Istio", `[2026-03-02T10:00:02.000Z] "GET /502 HTTP/1.1" SAID - via_upstream - "-" 502 91 4 - "-" "502" "id" "shop"`, answers, none},
		{"HAProxy", `h haproxy[502]: 192.0.2.1:502 [02/Mar/2026:10:00:02.000] in shop/502 0/0/1/3/4 SAID 502 - - ---- 1/1/1/1/0 0/0 "GET /502 HTTP/1.1"`, answers, none},
		{"ALB", `https 2026-03-02T10:00:02.000000Z app/502 192.0.2.1:502 10.0.0.1:502 0.001 0.002 0.001 SAID 200 502 503 "GET https://shop:502/ HTTP/1.1" "502" - -`, answers, none},
		{"ALB's target", `https 2026-03-02T10:00:02.000000Z app/502 192.0.2.1:502 10.0.0.1:502 0.001 0.002 0.001 460 SAID 502 503 "GET https://shop:502/ HTTP/1.1" "502" - -`, answers, none},
		{"Classic ELB", `2026-03-02T10:00:02.000000Z shop 192.0.2.1:502 10.0.0.1:502 0.001 0.002 0.001 SAID 200 0 502 "GET http://shop:502/ HTTP/1.1" "502" - -`, answers, none},
		{"JSON, a number", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"bytes":502,"path":"/502","status":SAID}`, answers, []string{"499", "502", "503", "504", "0", "-1"}},
		{"JSON, a text", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"bytes":"502","status":"SAID"}`, append(answers, "404 Not Found"), append(none, "502 Bad Gateway")},
		{"JSON of Envoy", `{"start_time":"2026-03-02T10:00:02Z","duration":4,"response_flags":"-","response_code":SAID}`, answers, []string{"503", "0"}},
		{"JSON of Envoy, its flags", `{"start_time":"2026-03-02T10:00:02Z","duration":4,"response_flags":"SAID","response_code":500}`, append(flagsOfAnswers, ""), flagsOfFailures},
		{"JSON of Envoy, its flags' long names", `{"start_time":"2026-03-02T10:00:02Z","duration":4,"response_flags_long":"SAID","response_code":500}`, flagsOfAnswers, flagsOfFailures},
		{"JSON of Traefik", `{"StartUTC":"2026-03-02T10:00:02Z","Duration":4000000,"DownstreamStatus":SAID}`, answers, []string{"499", "502"}},
		{"JSON, ECS", `{"@timestamp":"2026-03-02T10:00:02Z","event.duration":4000000,"http.response.status_code":SAID}`, answers, []string{"502"}},
		{"JSON, ECS in objects", `{"@timestamp":"2026-03-02T10:00:02Z","event":{"duration":4000000},"http":{"response":{"status_code":SAID,"bytes":502}}}`, answers, []string{"502"}},
		{"JSON, pino's", `{"time":1772445602000,"took_ms":4,"req":{"id":502},"res":{"statusCode":SAID}}`, append(answers, "{}"), []string{"502", `"502"`}},
		{"JSON, as fractions", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":SAID}`, []string{"200.0", `"200.0"`, "50.2"}, []string{"502.0", `"504.0"`, "0.0"}},
		{"JSON, the status line", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":"SAID"}`, []string{"HTTP/1.1 200 OK", "HTTP/2 404", "HTTP/1.1"}, []string{"HTTP/1.1 502 Bad Gateway", "HTTP/2 503 "}},
		{"JSON, an application's own status", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":0,"status_code":SAID}`, answers, none[:4]},
		{"JSON, and by a longer name", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":"-","http.response.status_code":SAID,"error":null}`, answers, none[:4]},
		{"JSON, two that say nothing", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":SAID,"responseCode":0}`, answers, []string{"0", `"-"`, `"done"`}},
		{"JSON, a code may be gRPC's", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"code":SAID}`, append(answers, "0", `"OK"`, `"-"`, "14"), []string{"502", `"000"`}},
		{"JSON, a status in words", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"status":"done","code":SAID}`, answers, []string{"502"}},
		{"JSON, an error", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"error":SAID}`, append(noErrors, `{"code":0,"message":null}`, `["",null]`), []string{`"reset by peer"`, "true", `{"type":"IOException"}`, `"none of them answered"`, "104", "1e999", `{"code":0,"message":"EOF"}`, `[null,"EOF"]`}},
		{"JSON, an error's message", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"error.message":SAID}`, noErrors, []string{`"EOF"`}},
		{"JSON, an exception", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"exception":SAID}`, []string{"null"}, []string{`"NoHttpResponseException"`}},
		{"JSON, an answer with an error", `{"time":"2026-03-02T10:00:02Z","duration_ms":4,"error":"sold out","status":SAID}`, answers, []string{"0", `"none"`, "null"}},
		{"a time", `2026-03-02T10:00:02Z 4ms SAID`, []string{"", "502", "ok", "shop failed", "unfailed"}, []string{"failed", "failed shop", "FAILED", "Failed"}},
		{"a time, in quotes", `"2026-03-02T10:00:02Z","4ms","SAID"`, []string{"", "ok"}, []string{"failed", "FAILED"}},
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

// TestFailedAndMicroseconds: Apache's %D before the request has no unit, and its status is found behind it.
func TestFailedAndMicroseconds(t *testing.T) {
	for status, failed := range map[string]int{"200": 0, "502": 1} {
		log := readOne(t, `192.0.2.1 - - [02/Mar/2026:10:00:02 +0000] 4000 "GET / HTTP/1.1" `+status)
		if log.Failed != failed || log.NoUnit != 1-failed || log.Took >= 0 {
			t.Errorf("%s: %+v", status, log)
		}
	}
}

// TestFailedInTheMedian: those that failed are not in it, and are counted where their line says how long
// they took: nothing of the others is left out.
func TestFailedInTheMedian(t *testing.T) {
	log, err := Read(strings.NewReader("1.5 60ms\n2.5 1ms failed\n3.5 1ms failed\n4.5 1ms failed\n5.5 failed\n6.5,,failed"), "calls.txt")
	if err != nil || log.Took != 60*ms || log.Failed != 3 || len(log.Calls) != 6 {
		t.Errorf("%+v, %v", log, err)
	}
	if log := readOne(t, `192.0.2.1 - - [02/Mar/2026:10:01:02 +0000] "GET / HTTP/1.1" 504 - "-" "curl"`); log.Failed != 0 || log.Calls[0].Took >= 0 {
		t.Errorf("%+v, though no line says how long", log)
	}
}
