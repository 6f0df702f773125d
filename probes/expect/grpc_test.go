package expect

import (
	"errors"
	"strings"
	"testing"
)

func grpcAnswer(code int, name string) Answer {
	return Answer{
		Status: 200, Proto: "HTTP/2.0", Body: []byte(`{"status":"SERVING"}`),
		GRPC: &GRPC{Code: code, Status: name, Message: "secret words", Details: []map[string]any{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SOLD_OUT", "n": 2.0}}},
	}
}

func TestGRPCHolds(t *testing.T) {
	for _, expression := range []string{
		`grpc.code == 5`, `grpc.status == "NOT_FOUND"`, `grpc.code in [0, 5]`, `grpc.message.contains("words")`,
		`grpc.details[0].reason == "SOLD_OUT"`, `grpc.details.exists(d, d.reason == "SOLD_OUT" && d.n == 2)`, `size(grpc.details) == 1`,
		`grpc["code"] == 5`, `status == 200 && grpc.code != 0`, `has(grpc.details) && grpc.code == 5`, `json.status == "SERVING" && grpc.code == 5`,
	} {
		set, err := Compile([]string{expression})
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if failures := set.Check(grpcAnswer(5, "NOT_FOUND")); len(failures) > 0 {
			t.Errorf("%s: %+v, want no failure", expression, failures)
		}
		if !set.ExpectsGRPC(GRPC{Code: 5, Status: "NOT_FOUND", Message: "words", Details: grpcAnswer(0, "").GRPC.Details}) {
			t.Errorf("%s: the code is not expected", expression)
		}
	}
}

// TestGRPCFails also shows what an expectation is about.
func TestGRPCFails(t *testing.T) {
	for _, tt := range []struct {
		expression string
		about      About
		detail     string
	}{
		{`grpc.code == 0`, AboutStatus, `gRPC status NOT_FOUND, want grpc.code == 0`},
		{`grpc.status == "OK" || grpc.code == 1`, AboutStatus, `gRPC status NOT_FOUND, want `},
		{`grpc.code == 0 && status == 200`, AboutOther, `status 200, gRPC status NOT_FOUND, want `},
		{`grpc.message == "x"`, AboutOther, `gRPC status NOT_FOUND, want `},
		{`grpc["code"] == 0`, AboutOther, `gRPC status NOT_FOUND, want `},
		{`grpc.details[1].reason == "x"`, AboutOther, `evaluation error: a list of the answer is too short`},
		{`grpc.details[0].missing == "x"`, AboutOther, `evaluation error: the answer has no "missing"`},
	} {
		set, err := Compile([]string{tt.expression})
		if err != nil {
			t.Fatalf("%s: %v", tt.expression, err)
		}
		got := set.Check(grpcAnswer(5, "NOT_FOUND"))
		if len(got) != 1 || got[0].About != tt.about || !strings.HasPrefix(got[0].Detail, tt.detail) {
			t.Errorf("%s: %+v, want about %q and %q", tt.expression, got, tt.about, tt.detail)
		}
		for _, f := range got {
			if strings.Contains(f.Detail, "secret words") || strings.Contains(f.Detail, "SOLD_OUT") {
				t.Errorf("detail tells of the answer: %q", f.Detail)
			}
		}
	}
}

func TestOrdinaryGRPC(t *testing.T) {
	beside, err := Compile([]string{`json.status == "SERVING"`})
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*Set{"nil": nil, "zero": {}, "of the message": beside} {
		if f := set.Check(grpcAnswer(0, "OK")); len(f) != 0 {
			t.Errorf("%s: OK: %+v, want no failure", name, f)
		}
		f := set.Check(grpcAnswer(13, "INTERNAL"))
		if len(f) != 1 || f[0].About != AboutStatus || f[0].Detail != "gRPC status INTERNAL, want OK" {
			t.Errorf("%s: INTERNAL: %+v, want one about the status", name, f)
		}
		if !set.ExpectsGRPC(GRPC{}) || set.ExpectsGRPC(GRPC{Code: 13, Status: "INTERNAL"}) {
			t.Errorf("%s: ExpectsGRPC", name)
		}
	}
}

func TestGRPCOfOtherAnswers(t *testing.T) {
	set, err := Compile([]string{`grpc.code == 0`})
	if err != nil {
		t.Fatal(err)
	}
	f := set.Check(answer())
	if len(f) != 1 || f[0].Detail != "evaluation error: the answer is no gRPC, want grpc.code == 0" {
		t.Errorf("%+v, want that there is no gRPC", f)
	}
	if !set.Speaks("grpc") || set.Speaks("json") || (*Set)(nil).Speaks("grpc") {
		t.Error("Speaks")
	}
}

func TestGRPCCompileErrors(t *testing.T) {
	for expression, want := range map[string]string{
		`status == 200 && grpc.Code == 0`: `column 22: grpc has no "Code"; it has code, status, message, details`,
		`grpc.code == "OK"`:               `column 11: grpc.code is a number, and is compared with text; want grpc.code == 0`,
		`0 == grpc.status`:                `column 3: grpc.status is text, and is compared with a number; want grpc.status == "OK"`,
		`grpc.message == true`:            `column 14: grpc.message is text, and is compared with true or false; want grpc.message == ""`,
		`certificate.days > 3`:            `column 12: certificate has no "days"; it has not_after, days_left, subject, issuer, names, staple`,
		`certificate.days_left > "30"`:    `column 23: certificate.days_left is a number, and is compared with text; want certificate.days_left > 30`,
		`certificate.days_left == 90`:     `column 23: certificate.days_left has a fraction, and no whole number equals it; compare it with > or <: certificate.days_left > 30`,
	} {
		_, err := Compile([]string{expression})
		var bad *Error
		if !errors.As(err, &bad) || bad.Error() != want {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
	for _, right := range []string{
		`grpc.code in [0, 5]`, `grpc.code == 0 || grpc.status == "NOT_FOUND"`, `certificate.days_left > 30.5`, `json.items.all(grpc, grpc.code == "A")`,
		`certificate.not_after > timestamp("2027-01-31T00:00:00Z")`, `json.all(certificate, certificate.days == 3)`, `has(certificate.staple)`,
		`grpc.code == json.code`, `"a" in certificate.names && size(grpc.details) == 0`, `certificate.issuer.contains("CA")`,
	} {
		if _, err := Compile([]string{right}); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
}
