package state

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// mergeSections joins the sections: by the options' function where both sides
// changed one, else as any JSON.
func mergeSections(base, mine, theirs map[string]json.RawMessage, o Options) (map[string]json.RawMessage, error) {
	joined := map[string]json.RawMessage{}
	for name := range keysOf(mine, theirs) {
		content, err := mergeSection(base[name], mine[name], theirs[name], o.Merge[name])
		if err != nil {
			return nil, fmt.Errorf("joining section %q with what another perch wrote: %w", name, err)
		}
		if len(content) > 0 {
			joined[name] = content
		}
	}
	if len(joined) == 0 {
		return nil, nil
	}
	return joined, nil
}

// mergeSection joins one section; nothing is one that is not there.
func mergeSection(base, mine, theirs json.RawMessage, joinBoth Merge) (json.RawMessage, error) {
	switch {
	case sameJSON(base, theirs):
		return mine, nil
	case sameJSON(base, mine):
		return theirs, nil
	case len(mine) == 0: // a change beats a removal
		return theirs, nil
	case len(theirs) == 0:
		return mine, nil
	case joinBoth != nil:
		return joinBoth(base, mine, theirs)
	}
	return mergeJSON(base, mine, theirs)
}

// mergeJSON joins two objects at their top level, key by key; a key that both
// changed, and whatever is no object, is mine.
func mergeJSON(base, mine, theirs json.RawMessage) (json.RawMessage, error) {
	m, mineIs := membersOf(mine)
	t, theirsIs := membersOf(theirs)
	if !mineIs || !theirsIs {
		return mine, nil
	}
	b, _ := membersOf(base) // something else was there: both sides made all of theirs
	joined := map[string]json.RawMessage{}
	for key := range keysOf(m, t) {
		content, err := mergeSection(b[key], m[key], t[key], keepMineJSON)
		if err != nil {
			return nil, err
		}
		if len(content) > 0 {
			joined[key] = content
		}
	}
	return json.Marshal(joined)
}

func keepMineJSON(_, mine, _ json.RawMessage) (json.RawMessage, error) { return mine, nil }

// membersOf returns the members of a JSON object.
func membersOf(text json.RawMessage) (map[string]json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, false
	}
	return members, true
}

// sameJSON compares as the store would write both: spaces and escapes differ
// between who made a section and who read it back.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	two, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, two)
}
