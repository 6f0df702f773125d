package k8s

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

// TestTokensInACluster: the token endpoint is let out to, and the client's secret
// is a key of the Secret and nowhere in the manifest.
func TestTokensInACluster(t *testing.T) {
	const more = "defaults: {oauth2: {token_url: \"%s/token\", client_id: shop, client_secret: {from: {env: SHOP_CLIENT}}}}\n"
	for _, c := range []struct{ endpoint, want string }{
		{"https://login.example:8444", "any 80 8444"},
		{"https://192.0.2.9", "any 80, 192.0.2.9/32 443"},
		{"http://127.0.0.1:8080", "any 80"},
	} {
		m := made(t, calls("http://a.example", strings.Replace(more, "%s", c.endpoint, 1)), Options{})
		checked(t, written(t, m))
		if got := out(t, m); got != c.want {
			t.Errorf("%s: %q, want %q", c.endpoint, got, c.want)
		}
		if notes := strings.Join(m.Notes, "\n"); !strings.Contains(notes, "--from-file=shop-client") {
			t.Errorf("notes %q", notes)
		}
		var from string
		for _, e := range found[*batchv1.CronJob](t, m).Spec.JobTemplate.Spec.Template.Spec.Containers[0].Env {
			if e.Name == "SHOP_CLIENT" {
				from = e.ValueFrom.SecretKeyRef.Key
			}
		}
		if from != "shop-client" {
			t.Errorf("the variable comes from %q", from)
		}
	}
}
