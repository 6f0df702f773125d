package lab_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"perch.example/lab"
)

// start runs a scenario for the length of the test.
func start(t *testing.T, name string, o lab.Options) *lab.Server {
	t.Helper()
	s, err := lab.Start(context.Background(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestHealthyAnswersTwoDays(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "healthy", lab.Options{TLS: secure})
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.ClientConfig()}}
		defer client.CloseIdleConnections()
		for range 2 {
			resp, err := client.Get(s.URL() + "/calendar?days=2")
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
			if err != nil || resp.StatusCode != http.StatusOK || len(body) < 100 {
				t.Errorf("status %d, %d bytes, %v", resp.StatusCode, len(body), err)
			}
		}
		if opened, _ := s.Connections(); opened != 1 {
			t.Errorf("%d connections for two requests, want 1", opened)
		}
		if got := s.Requests(); len(got) != 2 || got[1].Number != 2 || got[1].URI != "/calendar?days=2" {
			t.Errorf("recorded %+v", got)
		}
	}
}
