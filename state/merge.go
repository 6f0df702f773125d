package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"time"
)

// merge returns what is to stand in a store after mine was made from base,
// while what stands there went from base to theirs: the changes of both sides.
// Where only one side changed a thing, its change holds; a change beats a
// removal. It fails only where one of the options' functions does.
func merge(base, mine, theirs Document, o Options) (Document, error) {
	sections, err := mergeSections(base.Sections, mine.Sections, theirs.Sections, o)
	if err != nil {
		return Document{}, err
	}
	return Document{
		Version:     version,
		Name:        mergeName(base.Name, mine.Name, theirs.Name),
		Due:         mergeMaps(base.Due, mine.Due, theirs.Due, later),
		Daily:       mergeMaps(base.Daily, mine.Daily, theirs.Daily, addDaily),
		DailyBefore: mergeMaps(base.DailyBefore, mine.DailyBefore, theirs.DailyBefore, moreBefore),
		Clocks:      mergeClocks(base.Clocks, mine.Clocks, theirs.Clocks),
		EarlyCloses: mergeMaps(base.EarlyCloses, mine.EarlyCloses, theirs.EarlyCloses, keepMine),
		MassCloses:  mergeMaps(base.MassCloses, mine.MassCloses, theirs.MassCloses, keepMine),
		Sent:        mergeMaps(base.Sent, mine.Sent, theirs.Sent, mergeSent),
		LeaveAlone:  mergeMaps(base.LeaveAlone, mine.LeaveAlone, theirs.LeaveAlone, later),
		Brackets:    mergeMaps(base.Brackets, mine.Brackets, theirs.Brackets, newerBracket),
		Verdicts:    mergeMaps(base.Verdicts, mine.Verdicts, theirs.Verdicts, newerVerdict),
		Sections:    sections,
	}, nil
}

// mergeName is mine where I changed it: it says who adopted the state.
func mergeName(base, mine, theirs string) string {
	if mine == base {
		return theirs
	}
	return mine
}

// mergeMaps joins maps key by key; both decides where both sides changed a
// value. It is asked also where both came to the same: two equal counts may be
// twice the work. Without a base it gets the zero value.
func mergeMaps[V any](base, mine, theirs map[string]V, both func(b, m, t V) V) map[string]V {
	joined := make(map[string]V, len(mine)+len(theirs))
	for key := range keysOf(mine, theirs) {
		b, inBase := base[key]
		m, inMine := mine[key]
		t, inTheirs := theirs[key]
		same := func(have V, there bool) bool { return there == inBase && same(have, b) }
		keep := func(have V, there bool) {
			if there {
				joined[key] = have
			}
		}
		switch {
		case same(t, inTheirs):
			keep(m, inMine)
		case same(m, inMine):
			keep(t, inTheirs)
		case !inMine:
			joined[key] = t
		case !inTheirs:
			joined[key] = m
		default:
			joined[key] = both(b, m, t)
		}
	}
	if len(joined) == 0 {
		return nil
	}
	return joined
}

// keysOf returns every key of the maps.
func keysOf[V any](all ...map[string]V) map[string]bool {
	keys := map[string]bool{}
	for _, one := range all {
		for key := range maps.Keys(one) {
			keys[key] = true
		}
	}
	return keys
}

// same compares values as they are written: a time read back is the same one,
// though it lost its monotonic clock.
func same(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	two, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, two)
}

func later(_, m, t time.Time) time.Time {
	if t.After(m) {
		return t
	}
	return m
}

func keepMine[V any](_, m, _ V) V { return m }

// addDaily adds what each side counted since base. Counts of an earlier day are
// added to the later one, as AddRequests does: too strict, never too loose. A
// side may have counted less than base: it took a reservation back.
func addDaily(b, m, t Daily) Daily {
	joined := Daily{Day: max(m.Day, t.Day)}
	since := func(side Daily) int {
		if side.Day == b.Day {
			return side.Requests - b.Requests
		}
		return side.Requests
	}
	if b.Day == joined.Day {
		joined.Requests = b.Requests
	}
	joined.Requests = addUp(joined.Requests, since(m), since(t))
	return joined
}

// moreBefore keeps the later day's count, or the larger: no run adds to it.
func moreBefore(_, m, t Daily) Daily {
	if t.Day > m.Day || t.Day == m.Day && t.Requests > m.Requests {
		return t
	}
	return m
}

// mergeClocks is mine where I changed them: only runs do.
func mergeClocks(base, mine, theirs Clocks) Clocks {
	if same(base, mine) {
		return theirs
	}
	return mine
}

// addUp adds without passing the ends: a sum that became negative would switch
// a limit off.
func addUp(all ...int) int {
	sum := 0
	for _, n := range all {
		if n > 0 && sum > math.MaxInt-n {
			return math.MaxInt
		}
		sum += n
	}
	return max(0, sum)
}

func newerBracket(_, m, t Bracket) Bracket {
	if t.At.After(m.At) {
		return t
	}
	return m
}

func newerVerdict(_, m, t LastVerdict) LastVerdict {
	if t.At.After(m.At) {
		return t
	}
	return m
}
