package alert

import (
	"encoding/json"
	"slices"
)

// slackBefore is the only destination that the format before knew.
const slackBefore = "slack"

// UnmarshalJSON reads a memory, also in the format before: there a waiting
// notice had one way, to Slack, and said itself how far it had come.
func (m *Memory) UnmarshalJSON(content []byte) error {
	type plain Memory
	var now plain
	if err := json.Unmarshal(content, &now); err != nil {
		return err
	}
	*m = Memory(now)
	m.knowStates()
	if !slices.ContainsFunc(m.Outbox, func(n Notice) bool { return len(n.Ways) == 0 }) {
		return nil
	}
	var before struct {
		Outbox []struct {
			Sending        bool `json:"sending"`
			PossibleRepeat bool `json:"possible_repeat"`
		} `json:"outbox"`
	}
	if err := json.Unmarshal(content, &before); err != nil {
		return err
	}
	for i := range m.Outbox {
		if n := &m.Outbox[i]; len(n.Ways) == 0 {
			n.Ways = []Way{{Destination: slackBefore, Sending: before.Outbox[i].Sending, PossibleRepeat: before.Outbox[i].PossibleRepeat}}
		}
	}
	return nil
}

// knowStates takes an incident whose state is unknown for one that may yet
// fire: else nothing would ever be told of its target.
func (m *Memory) knowStates() {
	for i := range m.Incidents {
		switch at := &m.Incidents[i]; at.State {
		case StatePending, StateFiring, StateResolved:
		default:
			at.State = StatePending
		}
	}
}
