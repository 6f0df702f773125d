package probes

import (
	"testing"
	"time"
)

// An outcome of a burst is about the call that came to its reason and its close, and about
// the control of that call's burst.
func TestDecides(t *testing.T) {
	gone := &Close{How: HowFIN, Age: time.Second}
	o := Outcome{Kind: KindBurst, Reason: ReasonIdleFIN, Close: &Close{How: HowFIN, Age: time.Second}, Burst: &BurstSeen{Calls: []BurstCall{
		{Burst: 1, Number: 1, Attempt: 0}, {Burst: 1, Number: 2, Attempt: 1, Close: &Close{How: HowFIN, Age: 3 * time.Second}},
		{Burst: 2, Number: 1, Attempt: 3, Close: gone}, {Burst: 2, Number: 2, Attempt: 5},
	}}, Attempts: []Attempt{
		{Number: 1, Connection: ConnectionFresh, Reason: ReasonOK}, {Number: 2, Connection: ConnectionReused, Reason: ReasonIdleFIN}, {Number: 3, Connection: ConnectionControl, Reason: ReasonOK},
		{Number: 4, Connection: ConnectionReused, Reason: ReasonIdleFIN}, {Number: 5, Connection: ConnectionControl, Reason: ReasonOK}, {Number: 6, Connection: ConnectionReused, Reason: ReasonOK},
	}}
	call, control := o.Decides()
	if call == nil || control == nil || call.Number != 4 || control.Number != 5 {
		t.Fatalf("%+v, %+v, want the attempts 4 and 5", call, control)
	}
	if burst, number, ok := o.Call(call); burst != 2 || number != 1 || !ok {
		t.Errorf("call %d of burst %d, %t", number, burst, ok)
	}
	o.Reason, o.Close = ReasonOK, nil
	if call, _ := o.Decides(); call.Number != 6 {
		t.Errorf("attempt %d, want the reused one that was answered", call.Number)
	}
	if _, _, ok := o.Call(control); ok {
		t.Error("a control is a call")
	}
	o.Burst = nil
	if call, control := o.Decides(); call.Number != 6 || control.Number != 5 {
		t.Errorf("of another kind: %+v, %+v", call, control)
	}
}
