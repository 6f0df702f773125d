package diagnose

import (
	"net/http"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestDeclaredPOST: what is said of a POST never takes it for a GET, and its second
// try, which is never made, is called unsafe where the first may have been carried
// out.
func TestDeclaredPOST(t *testing.T) {
	for _, reason := range failures() {
		in := httpInput(reason)
		in.Spec.Method, in.Spec.ReadOnly = http.MethodPost, "a search"
		in.Observations[0].Attempts[0].Method = http.MethodPost
		o := judgeOne(t, in, 0)
		if o.Method != http.MethodPost || o.Retry.Result == probes.RetryRecovered {
			t.Errorf("%s: %s, retry %s", reason, o.Method, o.Retry.Result)
		}
		if wants := reason.Resend() == probes.ResendIdempotent; wants != (o.Retry.Result == probes.RetryUnsafe) {
			t.Errorf("%s: retry %s", reason, o.Retry.Result)
		}
		said := o.Message + " " + strings.Join(o.Advice, " ")
		for _, h := range o.Hypotheses {
			said += " " + h.Evidence
		}
		for _, word := range strings.FieldsFunc(said, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			if word == "GET" {
				t.Errorf("%s: speaks of a GET: %s", reason, said)
			}
		}
	}
}
