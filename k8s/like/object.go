package like

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	kjson "sigs.k8s.io/json"
)

// metadata is decoded once for each object, so that what reads it later finds
// the types that it expects.
type metadata = meta.ObjectMeta

// object is one of the input.
type object struct {
	*unstructured.Unstructured
	place string // "document 1 (from line 1), items[4]"
}

// String names an object as "Deployment shop/checkout".
func (o object) String() string {
	if o.GetNamespace() == "" {
		return clean(o.GetKind() + " " + o.GetName())
	}
	return clean(o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName())
}

// clean keeps what the input says to one line: it goes to a terminal, and into
// comments of YAML, which ends a line where others do not.
func clean(text string) string {
	const most = 2000
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// is reports whether an object is of a kind of an API group.
func (o object) is(group, kind string) bool {
	return o.GetKind() == kind && o.group() == group
}

// group is the API group, empty for v1.
func (o object) group() string {
	group, _, named := strings.Cut(o.GetAPIVersion(), "/")
	if !named {
		return ""
	}
	return group
}

func isService(o object) bool { return o.is("", "Service") }

// in reports whether an object stands in a namespace. What names none, as what
// `helm template` prints, is taken to stand in every one.
func (o object) in(namespace string) bool {
	return o.GetNamespace() == namespace || o.GetNamespace() == "" || namespace == ""
}

// decode reads the part of an object at a path; nothing there is no error.
func (o object) decode(into any, path ...string) error {
	value, found, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		return o.wrong(strings.Join(path, "."), "want an object on the way to it")
	}
	if !found || value == nil {
		return nil
	}
	return o.as(into, value, strings.Join(path, "."))
}

// as gives a part of an object its type.
func (o object) as(into, value any, path string) error {
	raw, err := json.Marshal(value)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
	}
	if err != nil {
		return o.wrong(path, plain(err))
	}
	return nil
}

// wrong is an error about a part of an object.
func (o object) wrong(path, why string) error {
	return fmt.Errorf("%s: %s: %s: %s", o.place, o, path, why)
}

// plain takes a decoder's words without Go's.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "json: ")
	return strings.NewReplacer("Go struct field ", "the field ", "Go value", "a value").Replace(text)
}

// selector decodes a label selector: matchLabels and matchExpressions. Nothing
// there: nil.
func (o object) selector(path ...string) (labels.Selector, error) {
	var s *meta.LabelSelector
	if err := o.decode(&s, path...); err != nil || s == nil {
		return nil, err
	}
	return o.asSelector(s, strings.Join(path, "."))
}

func (o object) asSelector(s *meta.LabelSelector, path string) (labels.Selector, error) {
	selector, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, o.wrong(path, err.Error())
	}
	return selector, nil
}

// pairs decodes a selector that is a map of labels alone, as a Service's and
// those of Istio are. Nothing there: nil.
func (o object) pairs(path ...string) (labels.Set, error) {
	var set labels.Set
	err := o.decode(&set, path...)
	return set, err
}

// listed names objects, a kind once.
func listed(all []object) string {
	var names []string
	for _, o := range all {
		names = append(names, o.String())
	}
	return inWords(names)
}

// inWords joins names for people, not all of a hundred.
func inWords(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
