package probes

import (
	"strings"
	"time"
)

// Spoken writes a duration as a config does, without the zero parts that
// Duration.String adds: 5m, not 5m0s.
func Spoken(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
