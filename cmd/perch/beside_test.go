package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBesideServe(t *testing.T) {
	for _, tt := range []struct{ namespace, host, want string }{
		{"", "laptop", "perch"},
		{"shop", "perch-7d9f8b6c54-x2xkz", "kubectl -n shop exec deploy/perch -- /perch"},
		{"shop", "perch-eu-7d9f8b6c54-x2xkz", "kubectl -n shop exec deploy/perch-eu -- /perch"},
		{"shop", "a-node", "kubectl -n shop exec deploy/perch -- /perch"}, // hostNetwork
	} {
		env := func(name string) (string, bool) { return tt.namespace, name == "PERCH_POD_NAMESPACE" }
		if got := besideServe(env, tt.host); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.host, tt.namespace, got, tt.want)
		}
	}
}

// What serve tells names a check that works beside it: perch run would be refused
// the state.
func TestServeTellsOfChecksBesideIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t, serving)
		s.prepare(serving, &shelf{})
		s.answers("/often", 404)
		s.begin()
		time.Sleep(time.Minute)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		told := strings.Join(s.heard(), "\n")
		want(t, "what was told", told, "perch serve runs it again by itself, within 1m", "`perch silence add")
		if strings.Contains(told, "perch run --") {
			t.Errorf("it names a run that is refused beside serve: %s", told)
		}
	})
}
