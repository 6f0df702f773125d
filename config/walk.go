package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"perch.example/probes/expect"
)

// What one file may cost to check: aliases let a few kilobytes stand for millions
// of values. How deep they nest needs no bound: the table is not recursive.
const (
	maxNodes    = 300_000
	maxMistakes = 1000
)

// positionKey holds a target's or probe's place in the checked tree. No key of
// the table can be called so.
const positionKey = "@place"

// place is where a value stands.
type place struct {
	file string
	line int
	path string
}

func (p place) key(key string, line int) place {
	path := key
	if p.path != "" {
		path = p.path + "." + key
	}
	return place{p.file, line, path}
}

func (p place) item(i, line int) place {
	return place{p.file, line, p.path + "[" + strconv.Itoa(i) + "]"}
}

// checker walks one config's YAML trees by the table and collects every
// mistake. What it returns holds only what was right, as Go values.
type checker struct {
	options  Options
	root     value  // the table
	example  string // where a start is found, for a file that is empty
	mistakes []Mistake
	warnings []Mistake
	lines    map[string]int   // of each value, by file and path
	tops     map[string]place // of each value outside of targets, by path
	broken   map[string]bool  // files that could not be walked
	nodes    int
	full     bool // the bound was met and told
	optional bool // nothing is required: a flag's single key
	compiler expect.Compiler
	sets     map[string]*expect.Set // compiled expectations by their text
}

func newChecker(o Options) *checker {
	return &checker{options: o, root: table(), example: "want version, targets and more; examples/minimal.yaml is a start", lines: map[string]int{}, tops: map[string]place{}, broken: map[string]bool{}, sets: map[string]*expect.Set{}}
}

func (c *checker) wrong(at place, problem, fix string) {
	c.mistakes = append(c.mistakes, Mistake{at.file, at.line, at.path, problem, fix})
}

func (c *checker) warn(at place, problem, fix string) {
	c.warnings = append(c.warnings, Mistake{at.file, at.line, at.path, problem, fix})
}

// at returns the place of a key below p; its line is p's when it is not written.
func (c *checker) at(p place, key string) place {
	sub := p.key(key, p.line)
	if line, ok := c.lines[sub.file+"\x00"+sub.path]; ok {
		sub.line = line
	}
	return sub
}

// has reports whether a key is written below p, rightly or wrongly.
func (c *checker) has(p place, key string) bool {
	_, there := c.lines[p.file+"\x00"+p.key(key, 0).path]
	return there
}

// met notes where a value stands.
func (c *checker) met(at place) {
	c.lines[at.file+"\x00"+at.path] = at.line
	if strings.HasPrefix(at.path, "targets[") {
		return
	}
	if first, there := c.tops[at.path]; !there || at.before(first) {
		c.tops[at.path] = at
	}
}

// before reports which of two is told: one with a line, then the first by file.
func (p place) before(other place) bool {
	if (p.line > 0) != (other.line > 0) {
		return p.line > 0
	}
	return p.file <= other.file
}

// walk checks a node against v. ok is false when nothing of it can be used.
func (c *checker) walk(n *yaml.Node, v *value, at place) (out any, ok bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if c.nodes++; c.nodes > maxNodes || len(c.mistakes) > maxMistakes {
		c.giveUp(at)
		return nil, false
	}
	c.met(at)
	if n.Style&yaml.TaggedStyle != 0 {
		c.wrong(at, "has a YAML tag (!...), which is not supported", "leave it out; text that begins with ! is put in quotes")
		return nil, false
	}
	if n.ShortTag() == tagNull && n.Kind == yaml.ScalarNode {
		c.wrong(at, "has no value", cmp.Or(v.without, "give it one, or leave the key out"))
		return nil, false
	}
	switch v.shape {
	case mapping:
		return c.mapping(n, v, at)
	case list:
		return c.list(n, v, at)
	case scalar:
		return c.scalar(n, v, at)
	}
	return nil, false
}

// giveUp ends the walk of what is no config, or one made to be expensive.
func (c *checker) giveUp(at place) {
	if c.full {
		return
	}
	c.full = true
	if len(c.mistakes) <= maxMistakes {
		c.wrong(place{at.file, at.line, ""}, "stands for too many values", fmt.Sprintf("want at most %d, those behind aliases counted each time", maxNodes))
	}
}

func (c *checker) mapping(n *yaml.Node, v *value, at place) (any, bool) {
	if n.Kind != yaml.MappingNode {
		c.wrong(at, "is "+kindOf(n), "want "+v.describe())
		return nil, false
	}
	out := make(map[string]any, len(n.Content)/2+1)
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		if !c.goodKey(key, at, v, seen) {
			continue
		}
		f, ok := v.field(key.Value)
		if !ok {
			c.unknown(key, at, v, n.Style&yaml.FlowStyle != 0 && child.ShortTag() == tagNull && child.Value == "")
			continue
		}
		sub := at.key(clip(key.Value), key.Line)
		if f.later != "" {
			c.wrong(sub, f.later, "leave the key out")
			continue
		}
		if got, ok := c.walk(child, &f.value, sub); ok {
			out[f.key] = got
		}
	}
	for i := range v.fields {
		f := &v.fields[i]
		if _, there := seen[f.key]; f.required && !there && !c.optional {
			c.wrong(at, strconv.Quote(f.key)+" is missing", "want "+f.value.describe())
		}
	}
	if v.rules != nil {
		v.rules(c, at, out)
	}
	return out, true
}

// goodKey refuses what is no key of its own.
func (c *checker) goodKey(key *yaml.Node, at place, v *value, seen map[string]int) bool {
	here := place{at.file, key.Line, at.path}
	switch {
	case key.Tag == "!!merge":
		c.wrong(here, "merge keys (<<) are not supported", "put what is shared under defaults, or on the target")
		return false
	case key.Kind != yaml.ScalarNode:
		c.wrong(here, "a key is "+kindOf(key), "want a word")
		return false
	}
	if first, twice := seen[key.Value]; twice {
		if _, known := v.field(key.Value); known || !v.hidden {
			here = here.key(clip(key.Value), key.Line)
		}
		c.wrong(here, "is given twice", fmt.Sprintf("keep one; the first is in line %d", first))
		return false
	}
	seen[key.Value] = key.Line
	return true
}

// unknown refuses a key. split: it may be the rest of a value that a comma ended.
func (c *checker) unknown(key *yaml.Node, at place, v *value, split bool) {
	here, problem := at.key(clip(key.Value), key.Line), fmt.Sprintf("unknown key %q", clip(key.Value))
	if v.hidden {
		here, problem = place{at.file, key.Line, at.path}, "unknown key (not shown)"
	}
	fix := "known here: " + strings.Join(v.keys(), ", ")
	if near := nearest(key.Value, v.keys()); split {
		fix = "inside {...} a comma ends a value: put one that holds a comma in quotes"
	} else if near != "" {
		fix = fmt.Sprintf("did you mean %q?", near)
	} else if where := homes(key.Value, &c.root, ""); len(where) > 0 {
		fix = "it belongs in " + strings.Join(where[:min(len(where), 3)], " or ")
	}
	c.wrong(here, problem, fix)
}

func (c *checker) list(n *yaml.Node, v *value, at place) (any, bool) {
	if n.Kind != yaml.SequenceNode {
		c.wrong(at, "is "+kindOf(n), "want "+v.describe())
		return nil, false
	}
	if len(n.Content) < v.min || len(n.Content) > v.max {
		c.wrong(at, fmt.Sprintf("has %d items", len(n.Content)), fmt.Sprintf("want %d to %d", v.min, v.max))
	}
	out := make([]any, 0, len(n.Content))
	for i, child := range n.Content {
		sub := at.item(i, child.Line)
		got, ok := c.walk(child, v.item, sub)
		if !ok {
			continue
		}
		if m, isMap := got.(map[string]any); isMap {
			m[positionKey] = sub
		}
		out = append(out, got)
	}
	return out, true
}

func (c *checker) scalar(n *yaml.Node, v *value, at place) (any, bool) {
	if n.Kind != yaml.ScalarNode {
		c.wrong(at, "is "+kindOf(n), "want "+v.want)
		return nil, false
	}
	if tag := n.ShortTag(); !slices.Contains(v.tags, tag) {
		c.wrongTag(n, v, at, tag)
		return nil, false
	}
	got, t := v.parse(n.Value)
	if t == nil {
		if v.after != nil {
			v.after(c, at, got)
		}
		return got, true
	}
	shown := show(n.Value, v.hidden)
	if t.problem == "" {
		c.wrong(at, "got "+shown, "want "+t.fix)
	} else {
		c.wrong(at, shown+" "+t.problem, t.fix)
	}
	return nil, false
}

// wrongTag says why YAML read the value as something else than is wanted.
func (c *checker) wrongTag(n *yaml.Node, v *value, at place, tag string) {
	shown := show(n.Value, v.hidden)
	numeric := tag == tagInt || tag == tagFloat
	switch {
	case slices.Contains(v.words, n.Value):
		c.wrong(at, shown+" is "+kindOf(n)+", not text", "put it in quotes")
	case (numeric || tag == tagBool) && nearest(n.Value, v.words) != "":
		c.wrong(at, "got "+shown, fmt.Sprintf("did you mean %q?", nearest(n.Value, v.words)))
	case numeric && v.withUnit(n.Value) != "":
		c.wrong(at, shown+" has no unit", v.withUnit(n.Value))
	case v.units == nil && len(v.words) == 0 && slices.Contains(v.tags, tagText):
		c.wrong(at, shown+" is "+kindOf(n)+", not text", "put it in quotes")
	case tag == tagText && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		c.wrong(at, shown+" is text", "want "+v.want+", without quotes")
	default:
		c.wrong(at, "got "+shown, "want "+v.want)
	}
}

// describe says in a few words what may stand here.
func (v *value) describe() string {
	switch v.shape {
	case mapping:
		if v.want == "" {
			return "keys and values: " + strings.Join(v.keys(), ", ")
		}
	case list:
		return "a list: " + v.item.describe() + " behind each dash"
	case scalar:
	}
	return v.want
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a block of keys"
	case yaml.SequenceNode:
		return "a list"
	default:
	}
	switch n.ShortTag() {
	case tagInt, tagFloat:
		return "a number"
	case tagBool:
		return "a boolean"
	case tagText:
		return "text"
	case tagNull:
		return "nothing"
	case tagTime:
		return "a date"
	}
	return "something else"
}

// homes returns where the table knows a key that was found elsewhere.
func homes(key string, v *value, path string) []string {
	if v.shape == list {
		return homes(key, v.item, path+"[]")
	}
	var found []string
	for i := range v.fields {
		f := &v.fields[i]
		sub := strings.TrimPrefix(path+"."+f.key, ".")
		if f.key == key && f.later == "" {
			found = append(found, cmp.Or(path, "the top level"))
		}
		found = append(found, homes(key, &f.value, sub)...)
	}
	return found
}
