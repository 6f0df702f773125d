package expect

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func answer() Answer {
	return Answer{
		Status: 200, Proto: "HTTP/1.1", TLS: "1.3", Latency: 120 * time.Millisecond,
		Headers: http.Header{"Content-Type": {"application/json"}, "X-Tag": {"a", "b"}},
		Body: []byte(`{"days":[1,2],"ok":true,"n":3,"f":2.5,"whole":2.0,"big":12345678901234567890,"huge":1e999,"token":"body-secret","none":null,
			"nested":{"status":"up"},"rows":[{"id":1},{"id":2}]}`),
	}
}

func TestCheckHolds(t *testing.T) {
	for _, expression := range []string{
		`status == 200`, `status in [200, 204]`, `status >= 200 && status < 300`,
		`latency < duration("300ms")`, `latency >= duration("0.1s")`,
		`proto == "HTTP/1.1"`, `tls == "1.3"`,
		`headers["content-type"] == "application/json"`, `headers["x-tag"] == "a, b"`, `headers["content-type"].startsWith("application/")`,
		`"content-type" in headers`, `!("etag" in headers)`, `has(headers.etag) || status == 200`,
		`body.contains("days")`, `body.matches("\"days\"\\s*:")`, `size(body) > 10`,
		`size(json.days) == 2`, `json.days == [1, 2]`, `json.n == 3`, `json.n == 3.0`, `json.n + 1 == 4`, `json.n > 2.5`, `json.f > 2`, `json.f < 3`,
		`json.whole == 2`, `json.big > 9223372036854775807`, `json.huge > 1`, `json.ok`, `json.none == null`, `json["nested"].status == "up"`,
		`json.rows.all(r, r.id > 0)`, `json.rows.map(r, r.id) == [1, 2]`, `json.rows.exists(status, status.id == 2)`,
		`!has(json.missing)`, `has(json.days) && size(json.days) > 1`, `json.days[1] == 2`,
		`status == 204 || json.n == 3`, `true`,
	} {
		t.Run(expression, func(t *testing.T) {
			set, err := Compile([]string{expression})
			if err != nil {
				t.Fatal(err)
			}
			if failures := set.Check(answer()); len(failures) > 0 {
				t.Errorf("Check: %+v, want none", failures)
			}
		})
	}
}

func TestCheckFails(t *testing.T) {
	for _, tt := range []struct {
		expression string
		about      About
		detail     string
	}{
		{`status == 503`, AboutStatus, `status 200, want status == 503`},
		{`status in [201, 202]`, AboutStatus, `status 200, want status in [201, 202]`},
		{`latency < duration("100ms")`, AboutLatency, `latency 120ms, want latency < duration("100ms")`},
		{`status == 200 && latency < duration("1ms")`, AboutOther, `status 200, latency 120ms, want status == 200 && latency < duration("1ms")`},
		{`proto == "HTTP/2.0"`, AboutOther, `proto HTTP/1.1, want proto == "HTTP/2.0"`},
		{`tls == "1.2"`, AboutOther, `tls "1.3", want tls == "1.2"`},
		{`size(json.days) == 3`, AboutOther, `does not hold: size(json.days) == 3`},
		{`json.token == "x"`, AboutOther, `does not hold: json.token == "x"`},
		{`json.missing == 1`, AboutOther, `evaluation error: the answer has no "missing", want json.missing == 1`},
		{`headers["etag"] == ""`, AboutOther, `evaluation error: the answer has no "etag", want headers["etag"] == ""`},
		{`json[json.token] == 1`, AboutOther, `evaluation error: the answer lacks a key, want json[json.token] == 1`},
		{`int(json.token) == 1`, AboutOther, `evaluation error: a value of the answer is of another kind, want int(json.token) == 1`},
		{`duration(json.token) == duration("1s")`, AboutOther, `evaluation error: `},
		{`timestamp(json.token) == timestamp("2026-01-01T00:00:00Z")`, AboutOther, `evaluation error: `},
		{`body.matches(json.token + "[")`, AboutOther, `evaluation error: `},
		{`json.days[7] == 1`, AboutOther, `evaluation error: a list of the answer is too short, want json.days[7] == 1`},
		{`json.days < 3`, AboutOther, `evaluation error: a value of the answer is of another kind, want json.days < 3`},
		{`json.n / 0 == 1`, AboutOther, `evaluation error: it cannot be evaluated on this answer, want json.n / 0 == 1`},
		{`json.days`, AboutOther, `evaluation error: gives neither true nor false, want a comparison: json.days`},
		{`[1].all(status, status == 2)`, AboutOther, `does not hold: [1].all(status, status == 2)`},
		{`json.rows.exists(latency, latency.id == 3) && status == 200`, AboutOther, `status 200, want `},
		{`false`, AboutOther, `does not hold: false`},
	} {
		t.Run(tt.expression, func(t *testing.T) {
			set, err := Compile([]string{tt.expression})
			if err != nil {
				t.Fatal(err)
			}
			got := set.Check(answer())
			if len(got) != 1 || got[0].About != tt.about || got[0].Expression != tt.expression || !strings.HasPrefix(got[0].Detail, tt.detail) {
				t.Errorf("Check: %+v, want about %q and %q", got, tt.about, tt.detail)
			}
			for _, f := range got {
				if strings.Contains(f.Detail, "body-secret") || strings.Contains(f.Detail, "application/json") {
					t.Errorf("detail tells of the answer: %q", f.Detail)
				}
			}
		})
	}
}

func TestOrdinaryStatus(t *testing.T) {
	latency, err := Compile([]string{`latency < duration("1s")`})
	if err != nil {
		t.Fatal(err)
	}
	shadowed, err := Compile([]string{`[200].all(status, status == 200)`, `json.status == "up" || true`})
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*Set{"nil": nil, "zero": {}, "latency only": latency, "status only as a loop's variable": shadowed} {
		for status, want := range map[int]int{199: 1, 200: 0, 204: 0, 299: 0, 300: 1, 401: 1, 503: 1} {
			got := set.Check(Answer{Status: status, Body: []byte(`{}`)})
			if len(got) != want {
				t.Errorf("%s: status %d: %+v, want %d failures", name, status, got, want)
			}
			if want == 1 && (got[0].About != AboutStatus || !strings.HasSuffix(got[0].Detail, "want 200 to 299")) {
				t.Errorf("%s: status %d: %+v", name, status, got[0])
			}
			if set.Expects(status) != (want == 0) {
				t.Errorf("%s: Expects(%d) = %v", name, status, set.Expects(status))
			}
		}
	}
}

func TestExpects(t *testing.T) {
	for _, tt := range []struct {
		expressions []string
		yes, no     []int
	}{
		{[]string{`status == 401`}, []int{401}, []int{200, 403}},
		{[]string{`status in [200, 429]`, `latency < duration("1s")`}, []int{200, 429}, []int{503}},
		{[]string{`status >= 200`, `status < 300`}, []int{200, 299}, []int{199, 300, 401}},
		{[]string{`status == 401 && json.error == "expired"`}, []int{401}, []int{200, 403}},
		{[]string{`status == 503 && json.rows.all(r, r.id > 0) && "x" in headers`}, []int{503}, []int{200}},
		{[]string{`status == 200 ? json.ok : status == 404`}, []int{200, 404}, []int{500}},
		{[]string{`json.ok`}, []int{200, 204}, []int{401}},
	} {
		set, err := Compile(tt.expressions)
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range tt.yes {
			if !set.Expects(status) {
				t.Errorf("%q: Expects(%d) = false, want true", tt.expressions, status)
			}
		}
		for _, status := range tt.no {
			if set.Expects(status) {
				t.Errorf("%q: Expects(%d) = true, want false", tt.expressions, status)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for expression, want := range map[string]string{
		`statuss == 200`:                `column 1: unknown name "statuss"; did you mean "status"?`,
		`Status == 200`:                 `column 1: unknown name "Status"; did you mean "status"?`,
		`code == 200`:                   `column 1: unknown name "code"; did you mean "status"?`,
		`len(json.days) == 2`:           `column 4: unknown name "len"; did you mean "size"?`,
		`body.startswith("x")`:          `column 16: unknown name "startswith"; did you mean "startsWith"?`,
		`status == 200 && banana`:       `column 18: unknown name "banana"; known: status, latency, proto, tls, headers, body, json, grpc, certificate`,
		`latency < 300`:                 `column 9: < does not take a duration and a number; latency compares with durations: latency < duration("300ms")`,
		`status == "200"`:               `column 8: == does not take a number and text; numbers have no quotes: status == 200`,
		`latency < duration("300")`:     `column 20: no such duration; want a unit: duration("300ms")`,
		`body.matches("(")`:             `column 14: the pattern is no regular expression (RE2); want one such as body.matches("ok|done")`,
		`tls == 1.3`:                    `column 5: == does not take text and a number; the version stands in quotes: tls == "1.3"`,
		`proto == 1.1`:                  `column 7: == does not take text and a number; what is text stands in quotes, what is a number does not`,
		`status == 200.0`:               `column 8: == does not take a number and a number; write whole numbers without a point: status == 200`,
		`status`:                        `gives a number, not true or false; want a comparison such as status == 200`,
		`latency`:                       `gives a duration, not true or false; want a comparison such as latency < duration("300ms")`,
		`headers`:                       `gives a map, not true or false; want a comparison such as status == 200 or size(json.days) == 2`,
		`headers["Content-Type"] != ""`: `column 9: no header is called "Content-Type" here; names are lower case: headers["content-type"]`,
		`"ETag" in headers`:             `column 1: no header is called "ETag" here; names are lower case: headers["etag"]`,
		`has(headers.ETag)`:             `column 4: no header is called "ETag" here; names are lower case: headers["etag"]`,
		``:                              `is empty; want an expression such as status == 200`,
	} {
		_, err := Compile([]string{`true`, expression})
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v, want an *Error", expression, err)
			continue
		}
		if bad.Error() != want || bad.Index != 1 || bad.Expression != expression {
			t.Errorf("%s:\n got %d %q\nwant 1 %q", expression, bad.Index, bad.Error(), want)
		}
	}
	for expression, want := range map[string]string{
		`status = 200`: "compare with ==", `status == 200 and true`: "join with &&", `not true`: "negate with !", `status ==`: "want an expression such as status == 200",
	} {
		_, err := Compile([]string{expression})
		if err == nil || !strings.HasPrefix(err.Error(), "column ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want a column and %q", expression, err, want)
		}
	}
}

func TestCompileTellsEveryMistake(t *testing.T) {
	_, err := Compile([]string{`a`, `true`, `b`})
	var indexes []int
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var bad *Error
		if errors.As(e, &bad) {
			indexes = append(indexes, bad.Index)
		}
	}
	if len(indexes) != 2 || indexes[0] != 0 || indexes[1] != 2 {
		t.Errorf("mistakes at %v, want 0 and 2", indexes)
	}
}

func TestNotJSON(t *testing.T) {
	set, err := Compile([]string{`json.a == 1`})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"": "the body is empty, not JSON", "<html>body-secret": "the body is not JSON", `{"a":1} body-secret`: "the body is JSON and then something else",
		strings.Repeat("[", 20000): "the body is not JSON", "[" + strings.Repeat(`{"":1},`, 60000) + `{}]`: "the body holds more JSON values than perch looks at",
	} {
		got := set.Check(Answer{Status: 200, Body: []byte(body)})
		if len(got) != 1 || got[0].About != AboutOther || !strings.Contains(got[0].Detail, want) || strings.Contains(got[0].Detail, "body-secret") {
			t.Errorf("%.20q: %+v, want %q", body, got, want)
		}
	}
}

// TestConcurrent: one set serves many probes at once.
func TestConcurrent(t *testing.T) {
	set, err := Compile([]string{`status == 200`, `size(json.days) == 2`, `body.matches("d.ys")`, `headers["x-tag"] == "a, b"`})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 20 {
				a := answer()
				a.Status += i % 2
				if got := set.Check(a); len(got) != i%2 || set.Expects(200+i%2) != (i%2 == 0) {
					t.Errorf("status %d: %+v", a.Status, got)
				}
			}
		})
	}
	wg.Wait()
}
