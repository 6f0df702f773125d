package state

import (
	"maps"
	"time"
)

// Bracket is what a probe's holds have shown of the path's idle timeout, in all
// runs that agree: it lies above Survived and at or below Died. Zero: not known.
// Where two perches changed it, the later run's holds whole: its parts belong
// together.
type Bracket struct {
	Survived   time.Duration `json:"survived,omitzero"`   // the longest hold that was reused
	Died       time.Duration `json:"died,omitzero"`       // the shortest that was not
	Measured   time.Duration `json:"measured,omitzero"`   // the idle age at which a close was seen
	Advertised time.Duration `json:"advertised,omitzero"` // what the server promised
	How        string        `json:"how,omitempty"`       // the way of the close: fin, rst, silent...
	At         time.Time     `json:"at"`                  // when the run that measured it started

	Spread       time.Duration `json:"spread,omitzero"`         // by how much later than Measured other closes of that limit were seen
	Tries        int           `json:"tries,omitzero"`          // runs that have looked inside since it was last narrowed
	Runs         int           `json:"runs,omitzero"`           // runs that agree with it, above a few not counted
	TCPKeepAlive time.Duration `json:"tcp_keep_alive,omitzero"` // how often packets were sent while holding
	Suspect      *Bracket      `json:"suspect,omitempty"`       // what the last run saw, where it contradicts the rest
	Way          string        `json:"way,omitempty"`           // a print of how the connections went: of another way nothing is known
	Twice        time.Duration `json:"died_twice,omitzero"`     // the shortest hold by which two runs met an end that nobody saw
	Looked       time.Time     `json:"looked_at,omitzero"`      // when a bracket around such an end was last another
	Other        *Bracket      `json:"other,omitempty"`         // what was seen beside it, Runs runs ago
	Without      *Bracket      `json:"without,omitempty"`       // what was known before TCP keep-alive was sent
}

// LastVerdict is what a probe's last whole run came to.
type LastVerdict struct {
	Verdict string    `json:"verdict"`
	At      time.Time `json:"at"` // that run's start
}

// SetBracket keeps what is known of a probe's idle timeout; the zero Bracket
// forgets it.
func (d *Document) SetBracket(id string, b Bracket) {
	if b == (Bracket{}) {
		delete(d.Brackets, id)
		return
	}
	if d.Brackets == nil {
		d.Brackets = map[string]Bracket{}
	}
	b.At = b.At.UTC()
	d.Brackets[id] = b
}

// SetVerdict keeps a probe's last verdict. An empty one leaves what is known.
func (d *Document) SetVerdict(id, verdict string, at time.Time) {
	if verdict == "" {
		return
	}
	if d.Verdicts == nil {
		d.Verdicts = map[string]LastVerdict{}
	}
	d.Verdicts[id] = LastVerdict{verdict, at.UTC()}
}

// pruneVerdicts forgets probes that are no longer configured.
func (d *Document) pruneVerdicts(keep map[string]bool) {
	maps.DeleteFunc(d.Brackets, func(id string, _ Bracket) bool { return !keep[id] })
	maps.DeleteFunc(d.Verdicts, func(id string, _ LastVerdict) bool { return !keep[id] })
}
