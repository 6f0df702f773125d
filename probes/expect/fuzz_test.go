package expect

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzCheck: no expression and no body make it panic or run long, and no detail
// tells of the body or a header's value.
func FuzzCheck(f *testing.F) {
	for _, expression := range []string{
		`status == 200`, `json.a == 1`, `json[json.a] == 1`, `int(json.a) > 0`, `timestamp(body) < timestamp(json.a)`, `headers["x-secret"] == ""`,
		`body.matches(json.a)`, `[json, json].all(x, x == json)`, `json.map(x, json.map(y, x + y)).size() > 0`, `duration(body) > latency`,
		`{json.a: 1}[json.a] == 2`, `has(json.a.b)`, `json.a + json.b == "x"`, `bytes(body) == b"\xff"`, `status == 200 ? json : body`,
	} {
		f.Add(expression, []byte(`{"a":"zqbodyzq","b":[1,2.5,null,{"zqbodyzq":1}]}`))
		f.Add(expression, []byte("zqbodyzq"))
	}
	f.Fuzz(func(t *testing.T, expression string, body []byte) {
		set, err := Compile([]string{expression})
		if err != nil {
			if set != nil || err.Error() == "" {
				t.Errorf("set %v, error %v", set, err)
			}
			return
		}
		started := time.Now()
		a := Answer{Status: 200, Body: body, Headers: http.Header{"X-Secret": {"zqheaderzq"}}, Proto: "HTTP/1.1"}
		for _, failure := range set.Check(a) {
			told := strings.ReplaceAll(failure.Detail, expression, "")
			if strings.Contains(told, "zqbodyzq") && !strings.Contains(expression, "zqbodyzq") || strings.Contains(told, "zqheaderzq") {
				t.Errorf("%q tells of the answer: %q", expression, failure.Detail)
			}
			if failure.Expression == "" || failure.Detail == "" || failure.About == "" {
				t.Errorf("%+v", failure)
			}
		}
		for status := range 700 {
			set.Expects(status)
		}
		if took := time.Since(started); took > 2*maxTime+10*time.Second {
			t.Errorf("%q on %d bytes took %v", expression, len(body), took)
		}
	})
}
