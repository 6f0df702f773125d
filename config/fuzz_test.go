package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"perch.example/probes"
)

// FuzzParse: no bytes make it panic, what is refused says why, and what loads
// can do no harm.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml", "../examples/*.yaml"} {
		for _, name := range glob(f, pattern) {
			data, err := os.ReadFile(filepath.Clean(name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(catalog(), File{Name: "f.yaml", Data: data})
		if err != nil {
			var mistakes *Errors
			if !errors.As(err, &mistakes) || len(mistakes.List) == 0 {
				t.Fatalf("refused without a mistake: %v", err)
			}
			return
		}
		for _, target := range c.Targets {
			if target.Budget() <= 0 || target.DailyLimit < 1 || target.MaxConnections < 1 || target.Share > 1 {
				t.Errorf("budget of %+v", target)
			}
			for _, spec := range target.Probes {
				harmless(t, target, spec)
			}
		}
	})
}

func harmless(t *testing.T, target probes.Target, s probes.Spec) {
	t.Helper()
	if s.Kind != probes.KindTLS && !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, s.Method) && (s.Method != "POST" || s.ReadOnly == "" && (s.GRPC == nil || s.GRPC.Method != "")) {
		t.Errorf("method %q", s.Method)
	}
	if s.URL == nil || s.URL.Host != target.URL.Host || s.URL.Host == "" || s.URL.User != nil || s.URL.Fragment != "" || s.URL.Scheme != "http" && s.URL.Scheme != "https" {
		t.Errorf("url %v of target %v", s.URL, target.URL)
	}
	if !slices.Contains([]probes.Kind{probes.KindHTTP, probes.KindIdle, probes.KindBurst, probes.KindGRPC, probes.KindTLS}, s.Kind) || s.Expect == nil || s.Target != target.Name || s.Probe == "" {
		t.Errorf("spec %+v", s)
	}
	if b := s.Burst; (b != nil) != (s.Kind == probes.KindBurst) || b != nil && (b.Requests < 1 || b.Connections < 1 || b.Bursts < 1 || b.Over <= 0 ||
		b.Calls() > mostCalls || b.Connections > min(b.Requests, target.MaxConnections) || (b.Gap > 0) != (b.Bursts > 1) || s.PoolOrder == "" || s.Retry.Attempts > 1 || s.Redirects > 0) {
		t.Errorf("burst %+v of %+v", b, s)
	}
	if s.Timeouts.DNS <= 0 || s.Timeouts.Connect <= 0 || s.Timeouts.TLS <= 0 || s.Timeouts.Response <= 0 || s.MaxBody <= 0 || s.Every < 0 || s.TLS.MinVersion < probes.MinTLS {
		t.Errorf("bounds %+v", s)
	}
	for _, field := range append(slices.Clone(s.Headers), s.Query...) {
		if field.Name == "" || slices.ContainsFunc([]rune(field.Name+field.Prefix+field.Value), isControl) {
			t.Errorf("field %q", field.Name)
		}
		if (field.From.Env != "") && (field.From.File != "") {
			t.Errorf("two sources in %+v", field)
		}
	}
}
