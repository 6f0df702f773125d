package probes

// Decides are the attempts that an outcome is about: the call, and the control that was made
// beside it; nil: there is none. Of a burst it is a call that came to the outcome's reason and
// close, a reused one where there is any, and its burst's control. Of other kinds it is the last
// reuse, and the last control.
func (o Outcome) Decides() (call, control *Attempt) {
	if o.Burst == nil {
		return lastOn(o.Attempts, ConnectionReused), lastOn(o.Attempts, ConnectionControl)
	}
	c := o.decidingCall()
	if c == nil {
		return nil, nil
	}
	return &o.Attempts[c.Attempt], o.controlOf(c.Burst)
}

// Call is the burst and the number in it of an attempt; false: it is no call of a burst.
func (o Outcome) Call(a *Attempt) (burst, number int, ok bool) {
	if o.Burst == nil || a == nil {
		return 0, 0, false
	}
	for _, c := range o.Burst.Calls {
		if c.Attempt >= 0 && c.Attempt < len(o.Attempts) && &o.Attempts[c.Attempt] == a {
			return c.Burst, c.Number, true
		}
	}
	return 0, 0, false
}

func lastOn(attempts []Attempt, on Connection) *Attempt {
	return Observation{Attempts: attempts}.Attempt(on)
}

// decidingCall is the first of those that fit best.
func (o Outcome) decidingCall() *BurstCall {
	var best *BurstCall
	least := 0
	for i := range o.Burst.Calls {
		c := &o.Burst.Calls[i]
		if c.Attempt < 0 || c.Attempt >= len(o.Attempts) || o.Attempts[c.Attempt].Reason != o.Reason {
			continue
		}
		fit := 1
		if o.Attempts[c.Attempt].Connection == ConnectionReused {
			fit++
		}
		if o.Close != nil && c.Close != nil && o.Close.How == c.Close.How && o.Close.Age == c.Close.Age {
			fit += 2
		}
		if fit > least {
			best, least = c, fit
		}
	}
	return best
}

// controlOf is a burst's control: it follows a call of that burst.
func (o Outcome) controlOf(burst int) *Attempt {
	of := map[int]int{}
	for _, c := range o.Burst.Calls {
		of[c.Attempt] = c.Burst
	}
	under := 0
	var control *Attempt
	for i := range o.Attempts {
		if b, isCall := of[i]; isCall {
			under = b
		} else if o.Attempts[i].Connection == ConnectionControl && under == burst {
			control = &o.Attempts[i]
		}
	}
	return control
}
