package state

import (
	"encoding/json"
	"maps"
	"time"

	coordination "k8s.io/api/coordination/v1"
)

// reservationKey is the Lease's annotation that holds a Reservation as JSON.
const reservationKey = "perch.example/reserved"

// reservationIn returns what a Lease's annotation says; nil: nothing that can
// be understood. Somebody who writes rubbish there loses a reservation only.
func reservationIn(object *coordination.Lease) *Reservation {
	text, there := object.Annotations[reservationKey]
	if !there {
		return nil
	}
	var r Reservation
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Most) == 0 {
		return nil
	}
	maps.DeleteFunc(r.Most, func(_ string, n int) bool { return n <= 0 })
	return &r
}

// putInto writes the annotation; nil removes it.
func (r *Reservation) putInto(object *coordination.Lease) {
	if r == nil {
		delete(object.Annotations, reservationKey)
		return
	}
	text, err := json.Marshal(r)
	if err != nil {
		return // reserve has tried it
	}
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[reservationKey] = string(text)
}

// plus adds up two runs' reservations as if both were of the later one: too
// strict, never too loose. One of an earlier UTC day says nothing any more, as
// an earlier day's count in the document.
func (r *Reservation) plus(more Reservation) *Reservation {
	sum := Reservation{Most: maps.Clone(more.Most), Now: more.Now.UTC(), Last: more.Last.UTC()}
	if sum.Most == nil {
		sum.Most = map[string]int{}
	}
	if r == nil || dayOf(r.Now) < dayOf(sum.Now) {
		return &sum
	}
	for target, n := range r.Most {
		sum.Most[target] = addUp(sum.Most[target], n)
	}
	sum.Now, sum.Last = later(time.Time{}, sum.Now, r.Now), later(time.Time{}, sum.Last, r.Last)
	return &sum
}
