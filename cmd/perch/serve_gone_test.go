package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A config that is gone is told as that, and not with how to begin with one.
func TestServeSaysThatItsConfigIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		s.begin()
		time.Sleep(time.Minute)
		m.must(os.RemoveAll(m.dir))
		time.Sleep(time.Minute)
		if told := strings.Join(s.heard(), "\n"); !strings.Contains(told, m.dir+": the config is gone: perch goes on with the one that it has") || strings.Contains(told, "perch demo") {
			t.Errorf("told %s", told)
		}
		s.wants("/readyz", 200, "ok")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}
