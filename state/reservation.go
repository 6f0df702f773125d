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
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Most)+len(r.Before) == 0 {
		return nil
	}
	nothing := func(_ string, n int) bool { return n <= 0 }
	maps.DeleteFunc(r.Most, nothing)
	maps.DeleteFunc(r.Before, nothing)
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
// strict, never too loose. One of an earlier UTC day counts in windows only, as
// an earlier day's count in the document says nothing any more.
func (r *Reservation) plus(more Reservation) *Reservation {
	sum := Reservation{Most: plusEach(nil, more.Most), Before: more.Before, Now: more.Now.UTC(), Last: more.Last.UTC()}
	if r == nil {
		return &sum
	}
	sum.Before = plusEach(sum.Before, r.Before)
	if dayOf(r.Now) < dayOf(sum.Now) {
		sum.Before = plusEach(sum.Before, r.Most)
	} else {
		sum.Most = plusEach(sum.Most, r.Most)
	}
	sum.Now, sum.Last = later(time.Time{}, sum.Now, r.Now), later(time.Time{}, sum.Last, r.Last)
	return &sum
}

// plusEach adds up by target, and changes neither.
func plusEach(a, b map[string]int) map[string]int {
	sum := map[string]int{}
	for _, counts := range []map[string]int{a, b} {
		for target, n := range counts {
			sum[target] = addUp(sum[target], n)
		}
	}
	return sum
}
