package kubefake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"

	"perch.example/internal/kubefake"
)

const (
	configMapPath = "/api/v1/namespaces/shop/configmaps/perch-state"
	leasePath     = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/perch-state"
)

// ask makes a call and returns its status and body.
func ask(t *testing.T, s *kubefake.Server, method, path, body string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://fake"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// The bodies are those of a real API server.
func TestAnswers(t *testing.T) {
	big, err := json.Marshal(core.ConfigMap{BinaryData: map[string][]byte{"state": make([]byte, 1<<20+1)}})
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Replace(string(big), `"metadata":{}`, `"metadata":{"name":"perch-state"}`, 1)
	tests := []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"get", "GET", configMapPath, "", 200, `"kind":"ConfigMap"`},
		{"get a lease", "GET", leasePath, "", 200, `"kind":"Lease"`},
		{"another name", "GET", "/api/v1/namespaces/shop/configmaps/other", "", 403,
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"other\" is forbidden: User \"system:serviceaccount:shop:perch\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"shop\"","reason":"Forbidden","details":{"name":"other","kind":"configmaps"},"code":403}`},
		{"list", "GET", "/api/v1/namespaces/shop/configmaps", "", 403, "cannot list resource"},
		{"watch", "GET", configMapPath + "?watch=1", "", 403, "cannot watch resource"},
		{"create", "POST", "/api/v1/namespaces/shop/configmaps", "{}", 403, "cannot create resource"},
		{"patch", "PATCH", configMapPath, "{}", 403, "cannot patch resource"},
		{"delete", "DELETE", leasePath, "", 403, `cannot delete resource \"leases\" in API group \"coordination.k8s.io\"`},
		{"an old version", "PUT", configMapPath, `{"metadata":{"name":"perch-state","resourceVersion":"0"}}`, 409,
			`"message":"Operation cannot be fulfilled on configmaps \"perch-state\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"perch-state","kind":"configmaps"},"code":409`},
		{"a lease without a version", "PUT", leasePath, `{"metadata":{"name":"perch-state"}}`, 422, "must be specified for an update"},
		{"a lease that lasts for nothing", "PUT", leasePath, `{"metadata":{"name":"perch-state","resourceVersion":"2"},"spec":{"leaseDurationSeconds":0}}`, 422, "must be greater than 0"},
		{"another object's name", "PUT", configMapPath, `{"metadata":{"name":"other"}}`, 400, "does not match"},
		{"another object's uid", "PUT", configMapPath, `{"metadata":{"name":"perch-state","uid":"x"}}`, 409, "Precondition failed"},
		{"no JSON", "PUT", configMapPath, "hello", 400, "BadRequest"},
		{"too large", "PUT", configMapPath, named, 422, "may not be more than 1048576 bytes"},
		{"a key that is none", "PUT", configMapPath, `{"metadata":{"name":"perch-state"},"binaryData":{"a/b":""}}`, 422, "valid config key"},
		{"another kind", "GET", "/api/v1/namespaces/shop/secrets/perch-state", "", 404, "page not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, _, text := ask(t, kubefake.New("shop", "perch-state"), tt.method, tt.path, tt.body)
			if status != tt.status || !strings.Contains(text, tt.want) {
				t.Errorf("%d %s\nwant %d with %s", status, text, tt.status, tt.want)
			}
		})
	}
}

func TestUpdates(t *testing.T) {
	s := kubefake.New("shop", "perch-state")
	_, _, object := ask(t, s, "GET", configMapPath, "")
	version := s.ConfigMap().ResourceVersion
	if status, _, text := ask(t, s, "PUT", configMapPath, object); status != 200 || s.ConfigMap().ResourceVersion != version {
		t.Errorf("nothing changed: %d %s, want the same version", status, text)
	}
	changed := strings.Replace(object, `"metadata"`, `"binaryData":{"state":"aGVsbG8="},"metadata"`, 1)
	if status, _, text := ask(t, s, "PUT", configMapPath, changed); status != 200 || string(s.ConfigMap().BinaryData["state"]) != "hello" || s.ConfigMap().ResourceVersion == version {
		t.Errorf("updating: %d %s", status, text)
	}
	if status, _, _ := ask(t, s, "PUT", configMapPath, changed); status != 409 {
		t.Errorf("updating from an old version: %d, want 409", status)
	}
	immutable := true
	s.EditConfigMap(func(c *core.ConfigMap) { c.Immutable = &immutable })
	if status, _, text := ask(t, s, "PUT", configMapPath, `{"metadata":{"name":"perch-state"},"immutable":true}`); status != 422 || !strings.Contains(text, "immutable") {
		t.Errorf("updating what is immutable: %d %s", status, text)
	}
	want := map[kubefake.Call]int{kubefake.GetConfigMap: 1, kubefake.UpdateConfigMap: 4}
	for call, n := range s.Calls() {
		if want[call] != n {
			t.Errorf("%v was made %d times, want %d", call, n, want[call])
		}
	}
	s.Remove(kubefake.ConfigMaps)
	if status, _, text := ask(t, s, "GET", configMapPath, ""); status != 404 || !strings.Contains(text, `"message":"configmaps \"perch-state\" not found","reason":"NotFound"`) {
		t.Errorf("what was removed: %d %s", status, text)
	}
	s.Refuse(kubefake.GetLease)
	if status, _, _ := ask(t, s, "GET", leasePath, ""); status != 403 {
		t.Errorf("without the right: %d, want 403", status)
	}
}

// Faults come out the same way over a real connection.
func TestFaults(t *testing.T) {
	s := kubefake.New("shop", "perch-state")
	real := httptest.NewServer(s)
	defer real.Close()
	body := []byte(`{"metadata":{"name":"perch-state"},"data":{"a":"b"}}`)
	put := func(transport http.RoundTripper) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), "PUT", real.URL+configMapPath, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return transport.RoundTrip(r)
	}
	for name, transport := range map[string]http.RoundTripper{"none": s.Transport(), "loopback": http.DefaultTransport} {
		for _, status := range []int{401, 429, 500, 503} {
			s.SetFault(func(kubefake.Call) kubefake.Fault { return kubefake.Fault{Status: status, RetryAfter: "7"} })
			answer, err := put(transport)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != status || answer.Header.Get("Retry-After") != "7" {
				t.Errorf("%s: %s, Retry-After %q, want %d and 7", name, answer.Status, answer.Header.Get("Retry-After"), status)
			}
		}
		for _, fault := range []kubefake.Fault{{Drop: true}, {Lose: true}} {
			s.EditConfigMap(func(c *core.ConfigMap) { c.Data = nil })
			s.SetFault(func(kubefake.Call) kubefake.Fault { return fault })
			if answer, err := put(transport); err == nil {
				_ = answer.Body.Close()
				t.Errorf("%s: %+v was answered: %s", name, fault, answer.Status)
			}
			if done := s.ConfigMap().Data != nil; done != fault.Lose {
				t.Errorf("%s: %+v was carried out: %v", name, fault, done)
			}
		}
	}
}
