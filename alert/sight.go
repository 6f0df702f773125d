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
	Trouble   string           `json:"trouble,omitempty"` // the diagnosis in the outcome's own words
	Message   string           `json:"message,omitempty"`
	Closed    time.Duration    `json:"closed,omitempty"`   // shortest idle age at which a close was seen; 0: none was
	Died      time.Duration    `json:"died,omitempty"`     // shortest hold that failed
	Survived  time.Duration    `json:"survived,omitempty"` // longest idle age that worked
	Client    string           `json:"client,omitempty"`   // kind; empty: not declared
	Settings  []probes.Setting `json:"settings,omitempty"` // of the client, as declared
	Uses      string           `json:"uses,omitempty"`     // the danger band's upper end: up to which idle age the client uses a connection without looking; empty: no band
	Path      probes.TCPEnds   `json:"path,omitempty"`
	Expected  time.Duration    `json:"expected,omitempty"` // the config's keep_alive; 0: not said

	// Of the outcome that comes nearest to the application, where a connection
	// ended: what its client makes of that, and whether its retries cover it.
	Experiences string            `json:"experiences,omitempty"`
	Cover       probes.RetryCover `json:"cover,omitempty"`
}

// trouble says the diagnosis, and never nothing.
func (s Sight) trouble() string {
	if s.Trouble != "" {
		return s.Trouble
	}
	return trouble(s.Diagnosis)
}

// look sums up outcomes.
func look(outcomes []probes.Outcome, family probes.Family) Sight {
	var s Sight
	if lead := leading(outcomes, family); lead != nil {
		s.Diagnosis, s.Trouble, s.Message = lead.Diagnosis, shorten(clean(troubleOf(*lead)), maxTitle, "…"), shorten(clean(lead.Message), maxLine, more)
	}
	nearest := -1
	for _, o := range outcomes {
		s.Expected = max(s.Expected, o.KeepAlive)
		if family == probes.FamilyConnection { // elsewhere a failure has nothing to do with the hold
			s.lookAtIdle(o)
		}
		if o.Client != nil {
			s.Client, s.Settings = o.Client.Kind, o.Client.Settings
			if o.Client.Band != nil {
				s.Uses = upTo(o.Client.Band)
			}
		}
		if o.Path.TCPEnds != "" {
			s.Path = o.Path.TCPEnds
		}
		if o.Close != nil && o.Client != nil && nearness(o) > nearest {
			nearest = nearness(o)
			s.Experiences, s.Cover = shorten(clean(o.Client.Experiences), maxSummary, "…"), o.Retry.Application
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
	for _, a := range o.Attempts { // a burst's are many
		if a.Connection == probes.ConnectionReused && a.OK() {
			s.Survived = max(s.Survived, a.IdleTime)
		}
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
	causePath     cause = "the path changed"
	causeClient   cause = "the client changed"
	causeConfig   cause = "perch's config changed"
	causeAccepted cause = "it is accepted"
	causeAgain    cause = "it works again" // of what has nothing to do with idle time
	causeNeither  cause = "nothing that perch measures changed"
)

// why compares two sights. The path is looked at first: the danger band
// follows from it; then the client, then what perch is told to expect.
func why(then, now Sight) (cause, string) {
	if how := pathChange(then, now); how != "" {
		return causePath, how
	}
	if how := clientChange(then, now); how != "" {
		return causeClient, how
	}
	if then.Expected > 0 && now.Expected > 0 && then.Expected != now.Expected {
		return causeConfig, fmt.Sprintf("it expects idle connections to live for %s now, and expected %s before", age(now.Expected), age(then.Expected))
	}
	return causeNeither, ""
}

// pathChange says what is other about the path; empty: nothing that was
// measured then and now.
func pathChange(then, now Sight) string {
	switch {
	case then.Closed > 0 && now.Closed > 0 && differ(then.Closed, now.Closed):
		return fmt.Sprintf("idle connections are closed after %s now, and were after %s before", age(now.Closed), age(then.Closed))
	case then.ended() > 0 && now.Survived > then.ended() && differ(now.Survived, then.ended()):
		return fmt.Sprintf("connections idle for %s work now, and ended at about %s before", age(now.Survived), age(then.ended()))
	case then.Path != now.Path && then.Path != "" && now.Path != "":
		return fmt.Sprintf("the connection ends at another place than before (%s, before: %s)", now.Path, then.Path)
	}
	return ""
}

// clientChange says what is other about the declared client. What it makes of a
// close can be compared only where there was one then and now.
func clientChange(then, now Sight) string {
	switch {
	case then.Client != now.Client && now.Client == "":
		return then.Client + " is no longer declared in the config, so that perch does not judge by it"
	case then.Client != now.Client:
		return fmt.Sprintf("%s is declared now, before: %s", now.Client, orNone(then.Client))
	case settingsChange(then.Settings, now.Settings) != "":
		return settingsChange(then.Settings, now.Settings)
	case then.Closed == 0 || now.Closed == 0:
		return ""
	case then.Uses != now.Uses && now.Uses == "":
		return fmt.Sprintf("%s no longer uses connections that the path has closed; before, up to %s without looking", now.Client, then.Uses)
	case then.Uses != now.Uses:
		return fmt.Sprintf("%s uses idle connections up to %s without looking; before, up to %s", now.Client, now.Uses, orNone(then.Uses))
	case then.Experiences != now.Experiences && then.Experiences != "" && now.Experiences != "":
		return fmt.Sprintf("where a connection has ended, %s %s; before, it %s", now.Client, now.Experiences, then.Experiences)
	case then.Cover != now.Cover && then.Cover != "" && now.Cover == probes.CoverCovered:
		return "the application's retry policy covers this now"
	}
	return ""
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
