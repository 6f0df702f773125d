package expect

import (
	"strings"
	"testing"
	"time"
)

func TestHandshakes(t *testing.T) {
	end := time.Date(2027, 1, 30, 0, 0, 0, 0, time.UTC)
	a := Answer{TLS: "1.3", Latency: time.Second, Certificate: &Certificate{NotAfter: end, DaysLeft: 20.5, Subject: "api", Issuer: "CA", Names: []string{"api.example"}, Staple: "good"}}
	for expression, want := range map[string]string{
		`certificate.days_left > 20`:                                "",
		`certificate.days_left > 21`:                                `certificate of "api" by "CA", 20.5 days left, want certificate.days_left > 21`,
		`"api.example" in certificate.names`:                        "",
		`certificate.staple == "good" && tls == "1.3"`:              "",
		`certificate.issuer.startsWith("C")`:                        "",
		`certificate.not_after < timestamp("2027-01-01T00:00:00Z")`: "want certificate.not_after",
	} {
		set, err := Compile([]string{expression})
		if err != nil {
			t.Fatal(err)
		}
		failures := set.CheckHandshake(a)
		if (len(failures) == 0) != (want == "") || want != "" && !strings.Contains(failures[0].Detail, want) {
			t.Errorf("%s: %+v, want %q", expression, failures, want)
		}
	}
	if words := (&Certificate{DaysLeft: 19.97}).words(); !strings.Contains(words, " 19.9 days left") {
		t.Errorf("%s: 19 days and some hours are not 20", words)
	}
	plain, err := Compile([]string{`certificate.days_left > 20`})
	if err != nil {
		t.Fatal(err)
	}
	if failures := plain.Check(Answer{Status: 200}); len(failures) != 1 || failures[0].About != AboutOther {
		t.Errorf("without TLS: %+v", failures)
	}
}

func TestOnHandshake(t *testing.T) {
	set, err := Compile([]string{`tls == "1.3"`, `status == 200`, `latency < duration("1s") && size(body) > 0`, `certificate.days_left > 30.0`})
	if err != nil {
		t.Fatal(err)
	}
	kept, others := set.OnHandshake()
	if len(kept.expectations) != 2 || strings.Join(others, "; ") != `status == 200; latency < duration("1s") && size(body) > 0` {
		t.Errorf("kept %d, without %q", len(kept.expectations), others)
	}
	var none *Set
	if kept, others := none.OnHandshake(); len(kept.CheckHandshake(Answer{})) != 0 || others != nil {
		t.Error("no expectations are none")
	}
}
