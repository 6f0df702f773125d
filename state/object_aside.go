package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

// keepAsides is how many unusable documents a ConfigMap keeps beside the good
// one: perch may create no other object for them, and room is short.
const keepAsides = 2

// setAside moves the document that cannot be used to a key of its own, which
// the next update writes, and says so by an *AsideError. Until that update
// succeeds it is the same key, so that what was said comes true.
func (o *object) setAside(reason error, now time.Time) error {
	kind := kindOf(reason)
	prefix := fmt.Sprintf("%s.%s-", stateKey, kind)
	key := o.aside
	if !strings.HasPrefix(key, prefix) || o.current.BinaryData[key] != nil {
		key = prefix + now.UTC().Format(stampFormat)
	}
	for n := 2; o.current.BinaryData[key] != nil; n++ {
		key = fmt.Sprintf("%s%s-%d", prefix, now.UTC().Format(stampFormat), n)
	}
	changed := o.current.DeepCopy()
	changed.BinaryData[key] = changed.BinaryData[stateKey]
	delete(changed.BinaryData, stateKey)
	aside := &AsideError{Path: o.api.config.path(), Aside: key, Newer: kind == kindNewer, Err: reason}
	if kept := asides(changed); len(kept) > keepAsides {
		aside.GivenUp = kept[0]
		delete(changed.BinaryData, kept[0])
	}
	o.current, o.aside = changed, key
	return aside
}

// asides are the keys of what was kept aside, the oldest first.
func asides(c *core.ConfigMap) []string {
	var keys []string
	for key := range maps.Keys(c.BinaryData) {
		if strings.HasPrefix(key, stateKey+".") {
			keys = append(keys, key)
		}
	}
	stamp := func(key string) string { _, at, _ := strings.Cut(key, "-"); return at }
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(stamp(a), stamp(b)), cmp.Compare(a, b)) })
	return keys
}

// roomIn returns how long the packed document may be, and the keys that are not
// perch's where it is those that leave so little. Copies kept aside give way.
func roomIn(c *core.ConfigMap) (room int, beside string) {
	var keys []string
	room = maxValues
	for key, value := range c.Data {
		keys, room = append(keys, key), room-len(value)
	}
	for key, value := range c.BinaryData {
		if key != stateKey && !strings.HasPrefix(key, stateKey+".") {
			keys, room = append(keys, key), room-len(value)
		}
	}
	if room >= refusePacked {
		return refusePacked, ""
	}
	slices.Sort(keys)
	return max(0, room), strings.Join(keys, ", ")
}

// makeRoom gives up what was kept aside, the oldest first, until the API server
// takes the rest, and returns the keys.
func makeRoom(c *core.ConfigMap) []string {
	size := 0
	for _, value := range c.BinaryData {
		size += len(value)
	}
	for _, value := range c.Data {
		size += len(value)
	}
	var gone []string
	for _, key := range asides(c) {
		if size <= maxValues {
			break
		}
		size -= len(c.BinaryData[key])
		delete(c.BinaryData, key)
		gone = append(gone, key)
	}
	return gone
}
