package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// Taken is a fingerprint and the name of the file that it was read from.
type Taken struct {
	File string
	probes.Fingerprint
}

// ComparedFingerprints writes how two fingerprints compare: first whether they
// are of the same path, then each difference, what was compared, and what could
// not be. The error is w's.
func ComparedFingerprints(w io.Writer, a, b Taken, c Comparison, s Style) error {
	p := &page{style: s}
	p.hang(nil, comparedHeadline(c))
	for i, t := range []Taken{a, b} {
		p.field(string(rune('A'+i)), plain(t.File+": "+placeWords(t.Place)+", taken "+t.Taken.UTC().Format(time.RFC3339)))
	}
	for _, d := range c.all(Different) {
		p.gap()
		p.difference(d)
	}
	p.gap()
	p.parts("Equal", inkGood, c.all(Same), false)
	p.parts("May differ", inkPlain, c.all(Noted), true)
	p.parts("Not told", inkWarn, c.all(Unknown), true)
	for i, t := range c.Alone {
		p.field(first(i, "In one only"), plain(t+": not compared"))
	}
	p.gap()
	p.hang(nil, span{inkStrong, "What cannot be seen from inside, whatever is equal:"})
	for _, u := range unseen() {
		p.hang([]span{plain(margin + "- ")}, plain(u))
	}
	return p.flush(w)
}

func comparedHeadline(c Comparison) span {
	different := c.all(Different)
	seen := slices.DeleteFunc(slices.Clone(different), Compared.neither)
	switch {
	case len(seen) > 0:
		return span{inkBad, "NOT THE SAME PATH: " + counted(len(seen), "difference")}
	case len(different) > 0:
		return span{inkBad, "NOT COMPARED: neither side reached it"}
	}
	if n := len(c.all(Unknown)); n > 0 {
		return span{inkGood, fmt.Sprintf("THE SAME PATH as far as can be seen; %s could not be compared", counted(n, "part"))}
	}
	return span{inkGood, "THE SAME PATH as far as can be seen"}
}

// about is the part's name, and the target's where it has one.
func (d Compared) about() string {
	switch {
	case d.Target == "":
		return d.Part.words().name
	case d.neither():
		return d.Target
	}
	return d.Part.words().name + " to " + d.Target
}

// neither reports whether there was nothing to compare.
func (d Compared) neither() bool { return d.Part == PartReached && d.Why == neitherReached }

func (d Compared) heading() string {
	if d.neither() {
		return "NOT COMPARED: "
	}
	return "DIFFERENT: "
}

func (p *page) difference(d Compared) {
	w := d.Part.words()
	p.hang([]span{{inkBad, d.heading()}}, span{inkStrong, d.about()})
	p.field("A", plain(told(d.A)))
	p.field("B", plain(told(d.B)))
	means := w.means
	if d.Why != "" {
		means = sentence(d.Why)
	}
	p.field("Means", plain(means))
	if !d.neither() { // what it means says what to do
		p.field("Do", plain(w.do))
	}
}

func told(value string) string {
	if value == "" {
		return "unknown"
	}
	return value
}

func sentence(s string) string {
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// parts lists parts, what all targets share first: those of which nothing is to
// be said beside their names on one line, each other on its own.
func (p *page) parts(label string, ink ink, all []Compared, values bool) {
	var lines []string
	for len(all) > 0 {
		target, n := all[0].Target, 0
		for n < len(all) && all[n].Target == target {
			n++
		}
		lines = append(lines, partLines(target, all[:n], values)...)
		all = all[n:]
	}
	for i, l := range lines {
		p.field(first(i, label), span{ink, l})
	}
}

// partLines are the lines of one target's parts; an empty one: of all.
func partLines(target string, all []Compared, values bool) (lines []string) {
	var short []string
	for _, d := range all {
		if !values || d.A == "" && d.B == "" && d.Why == "" {
			if name := d.Part.words().name; !slices.Contains(short, name) { // a source of each family
				short = append(short, name)
			}
			continue
		}
		text := d.about()
		if d.A != "" || d.B != "" {
			text += ": A " + told(d.A) + ", B " + told(d.B)
		}
		if d.Why != "" {
			text += " (" + d.Why + ")"
		}
		lines = append(lines, text)
	}
	if len(short) == 0 {
		return lines
	}
	names := strings.Join(short, ", ")
	if target != "" {
		names = target + ": " + names
	}
	return append([]string{names}, lines...)
}

// The comparison's JSON is a contract like the report's (docs/json.md).
type comparisonJSON struct {
	Same    bool           `json:"same"`
	A       string         `json:"a"`
	B       string         `json:"b"`
	Parts   []comparedJSON `json:"parts"`
	InOne   []string       `json:"in_one_only"`
	NotSeen []string       `json:"not_seen"`
}

type comparedJSON struct {
	Part   Part      `json:"part"`
	Target string    `json:"target,omitempty"`
	How    Agreement `json:"how"`
	A      string    `json:"a,omitempty"`
	B      string    `json:"b,omitempty"`
	Why    string    `json:"why,omitempty"`
	Means  string    `json:"means,omitempty"`
	Do     string    `json:"do,omitempty"`
}

// ComparedFingerprintsJSON writes the same as one JSON document. The error is
// w's.
func ComparedFingerprintsJSON(w io.Writer, a, b Taken, c Comparison) error {
	d := comparisonJSON{
		Same: !c.Differs(), A: a.File, B: b.File, Parts: []comparedJSON{}, InOne: append([]string{}, c.Alone...), NotSeen: unseen(),
	}
	for _, part := range c.Parts {
		one := comparedJSON{Part: part.Part, Target: part.Target, How: part.How, A: part.A, B: part.B, Why: part.Why}
		if part.How == Different {
			one.Means, one.Do = part.Part.words().means, part.Part.words().do
		}
		d.Parts = append(d.Parts, one)
	}
	if err := indented(w, d); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}
