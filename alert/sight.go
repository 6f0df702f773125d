package alert

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// Sight is what the outcomes of an incident's probes showed in one run: kept
// from the opening, and compared at the end to say what changed.
type Sight struct {
	Diagnosis probes.Diagnosis `json:"diagnosis,omitempty"`
	Message   string           `json:"message,omitempty"`
	Closed    time.Duration    `json:"closed,omitempty"`   // shortest idle age at which a close was seen; 0: none was
	Died      time.Duration    `json:"died,omitempty"`     // shortest hold that failed
	Survived  time.Duration    `json:"survived,omitempty"` // longest idle age that worked
	Client    string           `json:"client,omitempty"`   // kind; empty: not declared
	Uses      string           `json:"uses,omitempty"`     // the danger band's upper end: up to which idle age the client uses a connection without looking; empty: no band
	Path      probes.TCPEnds   `json:"path,omitempty"`
}

// look sums up outcomes.
func look(outcomes []probes.Outcome, family probes.Family) Sight {
	var s Sight
	if lead := leading(outcomes, family); lead != nil {
		s.Diagnosis, s.Message = lead.Diagnosis, shorten(clean(lead.Message), maxLine, more)
	}
	for _, o := range outcomes {
		if family == probes.FamilyConnection { // elsewhere a failure has nothing to do with the hold
			s.lookAtIdle(o)
		}
		if o.Client != nil {
			s.Client = o.Client.Kind
			if o.Client.Band != nil {
				s.Uses = upTo(o.Client.Band)
			}
		}
		if o.Path.TCPEnds != "" {
			s.Path = o.Path.TCPEnds
		}
	}
	return s
}

// lookAtIdle adds what a rung says of idle ages.
func (s *Sight) lookAtIdle(o probes.Outcome) {
	if o.Close != nil && (s.Closed == 0 || o.Close.Age < s.Closed) {
		s.Closed = o.Close.Age
	}
	if o.Verdict == probes.VerdictFail && o.Hold > 0 && (s.Died == 0 || o.Hold < s.Died) {
		s.Died = o.Hold
	}
	if a := attempt(o, probes.ConnectionReused); a != nil && a.OK() {
		s.Survived = max(s.Survived, a.IdleTime)
	}
}

func upTo(b *probes.Band) string {
	if b.Open {
		return "any idle age"
	}
	return age(b.To)
}

// cause is what changed between an incident's opening and its end.
type cause string

const (
	causePath    cause = "the path changed"
	causeClient  cause = "the client changed"
	causeNeither cause = "nothing that perch measures changed"
)

// why compares two sights. The path is looked at first: the danger band
// follows from it.
func why(then, now Sight) (cause, string) {
	switch {
	case then.Closed > 0 && now.Closed > 0 && differ(then.Closed, now.Closed):
		return causePath, fmt.Sprintf("idle connections are closed after %s now, and were after %s before", age(now.Closed), age(then.Closed))
	case then.ended() > 0 && now.Survived > then.ended() && differ(now.Survived, then.ended()):
		return causePath, fmt.Sprintf("connections idle for %s work now, and ended at about %s before", age(now.Survived), age(then.ended()))
	case then.Path != now.Path && then.Path != "" && now.Path != "":
		return causePath, fmt.Sprintf("the connection ends at another place than before (%s, before: %s)", now.Path, then.Path)
	case then.Client != now.Client && now.Client == "":
		return causeClient, fmt.Sprintf("%s is no longer declared in the config, so that perch does not judge by it", then.Client)
	case then.Client != now.Client:
		return causeClient, fmt.Sprintf("%s is declared now, before: %s", now.Client, orNone(then.Client))
	case then.Closed == 0 || now.Closed == 0 || then.Uses == now.Uses:
		// The band follows from a close: without one then and now there is nothing to compare.
	case now.Uses == "":
		return causeClient, fmt.Sprintf("%s no longer uses connections that the path has closed; before, up to %s without looking", now.Client, then.Uses)
	default:
		return causeClient, fmt.Sprintf("%s uses idle connections up to %s without looking; before, up to %s", now.Client, now.Uses, orNone(then.Uses))
	}
	return causeNeither, ""
}

// ended is the idle age at which connections were seen to end.
func (s Sight) ended() time.Duration {
	if s.Closed > 0 {
		return s.Closed
	}
	return s.Died
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// differ tells two measured idle ages apart by judging.md's tolerance: 5%, at
// least 100 ms, at most 1 s.
func differ(a, b time.Duration) bool {
	tolerance := min(max(a/20, 100*time.Millisecond), time.Second)
	return a-b > tolerance || b-a > tolerance
}
