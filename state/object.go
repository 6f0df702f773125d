package state

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// stateKey is where the packed document stands in the ConfigMap's binaryData.
	stateKey = "state"
	// writesKey is the annotation that names the last writes. It tells whether an
	// update whose answer was lost was carried out: what stands there is built on it.
	writesKey = "perch.example/writes"
	// keepWrites must outlast the writes of others between a lost answer and the
	// look for it: some seconds, when an overloaded API server asks to wait. Ten
	// writers at once were seen to make more than 8. 64 take 700 bytes.
	keepWrites = 64
	// warnPacked and refusePacked bound the packed document. The API server refuses
	// values of more than 1 MiB together; etcd, the whole object a little above.
	warnPacked   = 64 << 10
	refusePacked = 900 << 10
	maxValues    = 1 << 20
)

// object is the ConfigMap as it was last read or written.
type object struct {
	api     *api
	current *core.ConfigMap // nil: not known, read it again
	// document is what stands there; empty without one (there is false).
	document Document
	there    bool
	// aside is the key under which the next update that succeeds keeps what could
	// not be used, which was said; empty: none.
	aside string
}

// read gets the object and what it holds. Content that cannot be used gives a
// *contentError, and an empty document.
func (o *object) read(ctx context.Context, doing string) error {
	o.current, o.document, o.there = nil, Document{Version: version}, false
	path := o.api.config.path()
	got, err := persist(ctx, o.api.getConfigMap)
	if err != nil {
		return o.api.config.explain(doing, resourceConfigMaps, err)
	}
	if holds := foreignKeys(got); holds != "" {
		return &ForeignError{Path: path, Holds: holds}
	}
	if got.Immutable != nil && *got.Immutable {
		return fmt.Errorf("%s state %q: the ConfigMap is immutable: delete it and create it anew, without that", doing, path)
	}
	o.current = got
	packed := got.BinaryData[stateKey]
	if len(packed) == 0 { // also an empty value, as an empty file
		return nil
	}
	d, err := decode(bytes.NewReader(packed))
	if err != nil {
		return &contentError{err}
	}
	o.document, o.there = d, true
	return nil
}

// foreignKeys names what a ConfigMap holds that never was a state's.
func foreignKeys(c *core.ConfigMap) string {
	keys := slices.Concat(slices.Sorted(maps.Keys(c.Data)), slices.Sorted(maps.Keys(c.BinaryData)))
	for _, key := range keys {
		if _, binary := c.BinaryData[key]; binary && (key == stateKey || strings.HasPrefix(key, stateKey+".")) {
			return ""
		}
	}
	return strings.Join(keys, ", ")
}

// written is what replacing the document came to, beside its error.
type written struct {
	warning string
	aside   error // an *AsideError: what stood there could not be used
}

// replace writes what change makes of the document that stands there, and again
// of what stands there then, while others write or the API server is not well.
// change may be called several times. unusable judges content that cannot be
// used: its error ends the matter, unless it is an *AsideError.
func (o *object) replace(ctx context.Context, unusable func(error) error, change func(standing Document, there bool) (Document, error)) (written, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("given up after %s", patience))
	defer cancel()
	var done written
	var tried []string
	var p pauses
	for {
		aside, err := o.know(ctx, unusable)
		if err != nil {
			return done, err
		}
		done.aside = errors.Join(done.aside, aside)
		if o.carriesAny(tried) {
			o.aside = ""
			return done, nil
		}
		d, err := change(o.document.clone(), o.there)
		if err != nil {
			return done, fmt.Errorf("saving state %q: %w", o.api.config.path(), err)
		}
		id := rand.Text()[:10]
		want, warning, err := o.with(d, id)
		if err != nil {
			return done, fmt.Errorf("saving state %q: %w", o.api.config.path(), err)
		}
		done.warning, tried = warning, append(tried, id)
		got, err := o.api.updateConfigMap(ctx, want)
		if err == nil {
			o.current, o.document, o.there, o.aside = got, d.clone(), true, ""
			return done, nil
		}
		o.current = nil
		if !apierrors.IsConflict(err) && !passing(err) {
			return done, o.api.config.explain("saving", resourceConfigMaps, err)
		}
		if err := p.wait(ctx, err); err != nil {
			return done, o.api.config.explain("saving", resourceConfigMaps, err)
		}
	}
}

// know reads the object unless it is known. What it finds that cannot be used
// is said once, however often an update has to be tried again.
func (o *object) know(ctx context.Context, unusable func(error) error) (aside, err error) {
	if o.current != nil {
		return nil, nil
	}
	err = o.read(ctx, "saving")
	var content *contentError
	if !errors.As(err, &content) {
		return nil, err
	}
	said := o.aside
	err = unusable(content.err)
	var kept *AsideError
	switch {
	case !errors.As(err, &kept):
		return nil, err
	case kept.Aside == said:
		return nil, nil
	}
	return kept, nil
}

// carriesAny reports whether one of the writes is in what stands there.
func (o *object) carriesAny(writes []string) bool {
	stands := strings.Split(o.current.Annotations[writesKey], ",")
	return slices.ContainsFunc(writes, func(id string) bool { return slices.Contains(stands, id) })
}

// with returns the object as it is to be written, and what to warn of.
func (o *object) with(d Document, id string) (*core.ConfigMap, string, error) {
	packed, _, err := encode(d)
	if err != nil {
		return nil, "", err
	}
	if room, beside := roomIn(o.current); len(packed) > room {
		return nil, "", &TooLargeError{Size: len(packed), Limit: room, Largest: largest(d), Beside: beside}
	}
	want := o.current.DeepCopy()
	if want.BinaryData == nil {
		want.BinaryData = map[string][]byte{}
	}
	want.BinaryData[stateKey] = packed
	if want.Annotations == nil {
		want.Annotations = map[string]string{}
	}
	writes := append(strings.Split(want.Annotations[writesKey], ","), id)
	writes = slices.DeleteFunc(writes, func(id string) bool { return id == "" })
	want.Annotations[writesKey] = strings.Join(writes[max(0, len(writes)-keepWrites):], ",")

	var warnings []string
	if len(packed) > warnPacked {
		warnings = append(warnings, fmt.Sprintf("it takes %d bytes, and more than %d are refused; the largest part is %s", len(packed), refusePacked, largest(d)))
	}
	for _, key := range makeRoom(want) {
		warnings = append(warnings, fmt.Sprintf("the copy %q that was kept aside is given up: there is no room for it any more", key))
	}
	if len(warnings) == 0 {
		return want, "", nil
	}
	return want, fmt.Sprintf("state %q: %s", o.api.config.path(), strings.Join(warnings, "; ")), nil
}
