package plan

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"perch.example/probes"
)

func TestDeclared(t *testing.T) {
	oauth := &probes.OAuth{TokenURL: &url.URL{Scheme: "https", Host: "login.example"}, DailyLimit: 200}
	var steps []Step
	for _, s := range []probes.Spec{
		{Target: "a", Probe: "search", Kind: probes.KindHTTP, Method: http.MethodPost, ReadOnly: "a search"},
		{Target: "a", Probe: "get", Kind: probes.KindHTTP, Method: http.MethodGet, OAuth: oauth},
		{Target: "a", Probe: "held", Kind: probes.KindIdle, Method: http.MethodGet, OAuth: oauth},
		{Target: "a", Probe: "held", Kind: probes.KindIdle, Method: http.MethodGet, OAuth: oauth},
		{Target: "a", Probe: "grpc", Kind: probes.KindGRPC, Method: http.MethodPost, GRPC: &probes.GRPC{}},
		{Target: "a", Probe: "list", Kind: probes.KindGRPC, Method: http.MethodPost, ReadOnly: "a list", GRPC: &probes.GRPC{Method: "shop.Stock/List"}},
	} {
		steps = append(steps, Step{Spec: &s})
	}
	var b bytes.Buffer
	if err := (&Plan{Steps: steps}).Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"POST", "a/search, declared read-only: a search\n", "a/list, shop.Stock/List, declared read-only: a list\n", "of login.example, asked for 200 times a day at most, for a/get, a/held\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "declared read-only"); n != 2 {
		t.Errorf("%d times declared", n)
	}
}

// TestMostWithTokens: what a 401 is asked again with is within what a run may send.
func TestMostWithTokens(t *testing.T) {
	oauth := &probes.OAuth{}
	for _, c := range []struct {
		spec probes.Spec
		want int
	}{
		{probes.Spec{Kind: probes.KindHTTP}, 1},
		{probes.Spec{Kind: probes.KindHTTP, OAuth: oauth}, 2},
		{probes.Spec{Kind: probes.KindHTTP, OAuth: oauth, Retry: probes.Retry{Attempts: 2}}, 3},
		{probes.Spec{Kind: probes.KindHTTP, OAuth: oauth, Method: http.MethodPost}, 1},
	} {
		if got := (&job{spec: &c.spec}).most(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.spec, got, c.want)
		}
	}
}
