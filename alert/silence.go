package alert

import "time"

// Silence mutes the notices of what it matches for a time: probing and
// resolving go on. It is JSON, for the state.
type Silence struct {
	ID     string    `json:"id,omitempty"` // empty: the config's
	Match  string    `json:"match"`        // "target/probe", "target", or a pattern with *
	From   time.Time `json:"from,omitzero"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason,omitempty"`
}
