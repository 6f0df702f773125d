package config

import (
	"fmt"
	"maps"
)

// The table: one tree of Go values that says which keys exist, what may stand
// at each, and what it means. The strict check walks it (walk.go), and the JSON
// Schema is printed from it (schema.go), so that the two cannot disagree.

// shape is how a value is written.
type shape int

const (
	scalar shape = iota
	mapping
	list
)

// value says what may stand at a place of the config.
type value struct {
	shape shape

	want   string // what would be right: `a duration such as 30s`; a mapping's may be empty
	hidden bool   // its text, a mapping's unknown keys, is never shown in a message

	// A scalar.
	tags    []string                          // the YAML tags that it may carry
	units   func(number string) []string      // a bare number with its unit, as it was probably meant; nil: needs none
	words   []string                          // words beside (or instead of) the other form
	parse   func(text string) (any, *trouble) // its value
	schema  map[string]any                    // its JSON Schema
	without string                            // what to do when it has no value; empty: nothing of its own
	after   func(*checker, place, any)        // a look at a good value

	// A mapping.
	fields []field
	known  map[string]int                        // their indexes by key
	rules  func(*checker, place, map[string]any) // between its keys

	// A list.
	item     *value
	min, max int // how many items
}

// trouble is why a scalar's text is not accepted.
type trouble struct{ problem, fix string }

// field is one key of a mapping.
type field struct {
	key      string
	doc      string // one sentence for editors
	value    value
	required bool
	builtin  any    // what holds when nobody says anything, as it is written; nil: nothing
	later    string // not served yet: why, or what to do instead
}

// field returns the field of a key.
func (v *value) field(key string) (*field, bool) {
	i, ok := v.known[key]
	if !ok {
		return nil, false
	}
	return &v.fields[i], true
}

// keys returns the served keys in the table's order.
func (v *value) keys() []string {
	var keys []string
	for _, f := range v.fields {
		if f.later == "" {
			keys = append(keys, f.key)
		}
	}
	return keys
}

func mappingOf(fields ...field) value {
	known := make(map[string]int, len(fields))
	for i, f := range fields {
		known[f.key] = i
	}
	return value{shape: mapping, fields: fields, known: known}
}

func listOf(item value, least, most int) value {
	return value{shape: list, item: &item, min: least, max: most}
}

// withRules adds a check between the keys of a mapping.
func (v value) withRules(rules func(*checker, place, map[string]any)) value {
	v.rules = rules
	return v
}

// builtin is the value of a built-in default, which is written as a user would
// write it. A default that its own key refuses is a bug that a test finds.
func (v *value) builtin(written any) any {
	got, t := v.parse(fmt.Sprint(written))
	if t != nil {
		return nil
	}
	return got
}

// withSchema adds to a mapping's JSON Schema what its keys do not say.
func (v value) withSchema(more map[string]any) value {
	v.schema = more
	return v
}

// oneOfTwo is the schema of two ways to say one thing; an empty first one says
// nothing.
func oneOfTwo(first, second string) map[string]any {
	return map[string]any{"not": map[string]any{
		"required": []string{first, second}, "properties": map[string]any{first: map[string]any{"minLength": 1}},
	}}
}

// notWithout is the schema of a list that needs one of some other keys.
func notWithout(key string, others ...string) map[string]any {
	anyOf := []any{map[string]any{"properties": map[string]any{key: map[string]any{"maxItems": 0}}}}
	for _, other := range others {
		anyOf = append(anyOf, map[string]any{"required": []string{other}})
	}
	return map[string]any{"dependentSchemas": map[string]any{key: map[string]any{"anyOf": anyOf}}}
}

func merged(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, one := range all {
		maps.Copy(out, one)
	}
	return out
}

func literalOrSource() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"required": []string{"value"}, "not": map[string]any{"required": []string{"prefix"}}},
		map[string]any{"required": []string{"from"}},
	}}
}

// withUnit says how a bare number is written with the unit that it lacks; empty
// when none makes it right. What the number was copied from is not known (2000
// is 2 s in Java, 2000 s elsewhere), so that a second reading is told as well.
func (v *value) withUnit(number string) string {
	if v.units == nil || !plain(number) {
		return ""
	}
	var right []string
	for _, written := range v.units(number) {
		if _, t := v.parse(written); t == nil {
			right = append(right, written)
		}
	}
	switch len(right) {
	case 0:
		return ""
	case 1:
		return "write " + right[0]
	}
	return "write " + right[0] + ", or " + right[1] + " if that is meant"
}

// numbered makes a bare number's text a mistake that says which unit it lacks.
func (v value) numbered(units func(string) []string) value {
	inner := v.parse
	v.units = units
	v.parse = func(s string) (any, *trouble) {
		if !plain(s) {
			return inner(s)
		}
		bare := value{units: units, parse: inner}
		if fix := bare.withUnit(s); fix != "" {
			return nil, &trouble{"has no unit", fix}
		}
		return nil, &trouble{"", v.want}
	}
	return v
}

// like is what a mapping looks like, for messages.
func (v value) like(example string) value {
	v.want = example
	return v
}
