package report

import "perch.example/probes"

// idleClientJSON is what one common client would meet on the path that `perch
// idle` measured. A POST is told apart only where it differs.
type idleClientJSON struct {
	clientJSON
	Result     probes.ClientResult `json:"result,omitempty"`
	Post       string              `json:"post_experiences,omitempty"`
	PostResult probes.ClientResult `json:"post_result,omitempty"`
	Safe       string              `json:"safe_setting,omitempty"`
	KeepBelow  float64             `json:"keep_idle_below_seconds,omitempty"`
}

func newIdleClients(clients []probes.ClientOutcome) []idleClientJSON {
	var all []idleClientJSON
	for i := range clients {
		c := &clients[i]
		all = append(all, idleClientJSON{
			clientJSON: *newClient(c), Result: c.Result, Post: c.Post, PostResult: c.PostResult, Safe: c.Safe,
			KeepBelow: seconds(c.KeepBelow),
		})
	}
	return all
}
