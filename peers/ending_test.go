//go:build peers

package peers

import (
	"testing"
	"time"
)

// TestEnding holds the reading of a capture, on segments made up for it.
func TestEnding(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	ask := Segment{At: at(0), Data: 100, Seq: 1000, Ack: 5000}
	answer := Segment{At: at(10), FromServer: true, Data: 50, Seq: 5000, Ack: 1100}
	again := Segment{At: at(2010), Data: 100, Seq: 1100, Ack: 5050}
	blind := Segment{At: at(2030), Data: 100, Seq: 1100, Ack: 5051}
	early := Segment{At: at(2020), FromServer: true, FIN: true, Seq: 5050, Ack: 1100}
	late := Segment{At: at(2020), FromServer: true, FIN: true, Seq: 5050, Ack: 1200}
	repeat := Segment{At: at(15), Data: 100, Seq: 1000, Ack: 5000}
	notify := Segment{At: at(2019), FromServer: true, Data: 24, Seq: 5050, Ack: 1100}
	rst := Segment{At: at(2020), FromServer: true, RST: true, Seq: 5050}
	for name, c := range map[string]struct {
		segments []Segment
		want     Ending
	}{
		"idle FIN":         {[]Segment{ask, answer, early}, Ending{At: at(2020), FIN: at(2020), Idle: 2010 * time.Millisecond}},
		"blind write":      {[]Segment{ask, answer, early, blind}, Ending{At: at(2020), FIN: at(2020), Idle: 2010 * time.Millisecond}},
		"close_notify":     {[]Segment{ask, answer, notify, early}, Ending{At: at(2019), FIN: at(2020), Pushed: 24, Idle: 2009 * time.Millisecond}},
		"idle RST":         {[]Segment{ask, answer, rst}, Ending{At: at(2020), RST: at(2020), Idle: 2010 * time.Millisecond}},
		"sent again":       {[]Segment{ask, answer, repeat, early}, Ending{At: at(2020), FIN: at(2020), Idle: 2010 * time.Millisecond}},
		"read, then FIN":   {[]Segment{ask, answer, again, late}, Ending{At: at(2020), FIN: at(2020), Idle: 2010 * time.Millisecond, Asked: true}},
		"crossed":          {[]Segment{ask, answer, again, early}, Ending{At: at(2020), FIN: at(2020), Idle: 2010 * time.Millisecond, Asked: true, Crossed: true}},
		"crossed, far off": {[]Segment{ask, answer, early, again}, Ending{At: at(2020), FIN: at(2020), Idle: 2010 * time.Millisecond, Asked: true, Crossed: true}},
	} {
		if got, ok := ending(c.segments); !ok || got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if _, ok := ending([]Segment{ask, answer}); ok {
		t.Error("an end where there is none")
	}
}
