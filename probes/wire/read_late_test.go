package wire

import (
	"testing"
	"time"
)

// TestReadLate: how long the end of a whole answer had waited is known however
// early its beginning was seen, and nothing is said of an answer that is not whole.
func TestReadLate(t *testing.T) {
	began := time.Now()
	ms := time.Millisecond
	for name, tt := range map[string]struct {
		ending             Ending
		read, looked, data time.Duration // since the request: the last read, the last look; since data came: the kernel's counter
		want               time.Duration
	}{
		"in time":              {EndWhole, 30 * ms, 31 * ms, 4 * ms, 0},
		"late":                 {EndWhole, 530 * ms, 531 * ms, 500 * ms, 499 * ms},
		"late to look as well": {EndWhole, 30 * ms, 731 * ms, 700 * ms, 0},
		"closed, no counter":   {EndWhole, 30 * ms, 31 * ms, 0, 0},
		"never before we ask":  {EndWhole, 530 * ms, 531 * ms, 900 * ms, 530 * ms},
		"cut":                  {EndEOF, 530 * ms, 531 * ms, 500 * ms, 0},
	} {
		c := &Conn{}
		c.tap.lastRead = began.Add(tt.read)
		x := &exchange{conn: c}
		x.e.Started, x.e.Elapsed, x.e.Ending = began, tt.read, tt.ending
		x.e.Last = &Snapshot{At: began.Add(tt.looked), LastDataRecv: tt.data}
		if got := x.readLate(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
