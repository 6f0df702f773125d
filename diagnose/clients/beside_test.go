package clients

import (
	"testing"

	"perch.example/probes"
)

// TestBeside: a list that names the error on the wrapper's other side.
func TestBeside(t *testing.T) {
	const in, out = probes.LayerInside, probes.LayerAround
	const client, wrapped = "the retry layer inside RestTemplate sees NoHttpResponseException, before the wrapping: its list does not hold that",
		"the retry layer around RestTemplate sees ResourceAccessException, after the wrapping: its list does not hold that"
	once := spring(in, resource)
	once.Retry.Attempts = 1
	posts := spring(in, resource)
	posts.Retry.Methods = []string{"GET"}
	none := spring(in)
	none.Retry = nil
	unwrapped := spring(in, resource)
	unwrapped.WrappedBy = ""
	tests := []struct {
		name   string
		decl   probes.Client
		reason probes.Reason
		method string
		want   string
	}{
		{"the list holds what it becomes", spring(in, resource), "idle_fin", "GET", client},
		{"by a class above", spring(in, "org.springframework.web.client.RestClientException"), "idle_fin", "GET", client},
		{"the list holds what it was", spring(out, noAnswer), "idle_fin", "GET", wrapped},
		{"an answer", spring(in, serverErr), "unavailable", "GET", "the retry layer inside RestTemplate sees the answer 503, not yet an error: its list does not hold that"},
		{"the list holds neither", spring(in, serverErr), "idle_fin", "GET", ""},
		{"the list holds it", spring(in, noAnswer, resource), "idle_fin", "GET", ""},
		{"the list is right for its layer", spring(out, resource), "idle_fin", "GET", ""},
		{"the attempts are why", once, "idle_fin", "GET", ""},
		{"the method is why", posts, "idle_fin", "POST", ""},
		{"no policy", none, "idle_fin", "GET", ""},
		{"no wrapper", unwrapped, "idle_fin", "GET", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Beside(tt.decl, tt.reason, tt.method, 0); got != tt.want {
				t.Errorf("got\n %q, want\n %q", got, tt.want)
			}
		})
	}
}
