package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestMergeDaily(t *testing.T) {
	const first, second = "2026-03-01", "2026-03-02"
	tests := []struct {
		name                     string
		base, mine, theirs, want Daily
	}{
		{"both counted on", Daily{first, 10}, Daily{first, 13}, Daily{first, 15}, Daily{first, 18}},
		{"both counted the same", Daily{first, 10}, Daily{first, 13}, Daily{first, 13}, Daily{first, 16}},
		{"both began", Daily{}, Daily{first, 3}, Daily{first, 5}, Daily{first, 8}},
		{"mine took a reservation back", Daily{first, 110}, Daily{first, 13}, Daily{first, 111}, Daily{first, 14}},
		{"a new day for both", Daily{first, 10}, Daily{second, 3}, Daily{second, 5}, Daily{second, 8}},
		{"a new day for one", Daily{first, 10}, Daily{second, 3}, Daily{first, 15}, Daily{second, 8}},
		{"a wrong clock's count was dropped", Daily{second, 10}, Daily{first, 3}, Daily{second, 11}, Daily{second, 14}},
		{"more than fits", Daily{first, 0}, Daily{first, math.MaxInt}, Daily{first, math.MaxInt}, Daily{first, math.MaxInt}},
		{"below nothing", Daily{first, 10}, Daily{first, 0}, Daily{first, 1}, Daily{first, 0}},
	}
	for _, tt := range tests {
		if got := addDaily(tt.base, tt.mine, tt.theirs); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if got := addDaily(tt.base, tt.theirs, tt.mine); got != tt.want {
			t.Errorf("%s, sides changed: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Every rule of a key: who has it, who changed it.
func TestMergeMaps(t *testing.T) {
	early, late := at("2026-03-01T10:00:00Z"), at("2026-03-01T11:00:00Z")
	old, none := early.Add(-time.Hour), time.Time{}
	tests := []struct {
		name                     string
		base, mine, theirs, want time.Time
	}{
		{"nobody changed it", old, old, old, old},
		{"mine changed it", old, early, old, early},
		{"theirs changed it", old, old, early, early},
		{"both: the later", old, early, late, late},
		{"both: the later is mine", old, late, early, late},
		{"mine removed it", old, none, old, none},
		{"theirs removed it", old, old, none, none},
		{"both removed it", old, none, none, none},
		{"a change beats my removal", old, none, early, early},
		{"a change beats their removal", old, early, none, early},
		{"mine made it", none, early, none, early},
		{"theirs made it", none, none, early, early},
		{"both made it", none, early, late, late},
	}
	one := func(when time.Time) map[string]time.Time {
		if when.IsZero() {
			return nil
		}
		return map[string]time.Time{"key": when}
	}
	for _, tt := range tests {
		if got := mergeMaps(one(tt.base), one(tt.mine), one(tt.theirs), later); !reflect.DeepEqual(got, one(tt.want)) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestMergeTheRest(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var base, mine, theirs Document
	mine.AddSent("api", 3, now)
	theirs.AddSent("api", 4, now.Add(time.Minute))
	mine.SetBracket("a/b", Bracket{Died: 1, At: now})
	theirs.SetBracket("a/b", Bracket{Died: 2, At: now.Add(time.Minute)})
	mine.SetVerdict("a/b", "fail", now.Add(time.Minute))
	theirs.SetVerdict("a/b", "pass", now)
	mine.SetEarlyCloses("a/b", map[time.Duration]time.Duration{1: 1}, nil)
	theirs.SetEarlyCloses("a/b", map[time.Duration]time.Duration{2: 2}, nil)
	got, err := merge(base, mine, theirs, Options{})
	must(t, err)
	want := Document{
		Version:     version,
		Sent:        map[string]Sent{"api": {7, now.Add(time.Minute), []Left{{3, now}}}},
		Brackets:    theirs.Brackets,
		Verdicts:    mine.Verdicts,
		EarlyCloses: mine.EarlyCloses,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("merged to\n%+v, want\n%+v", got, want)
	}
}

// A time that was read back has no monotonic clock any more. That is no change.
func TestReadingBackIsNoChange(t *testing.T) {
	var mine Document
	mine.AddSent("api", 3, time.Now())
	mine.SetBracket("a/b", Bracket{Died: time.Second, At: time.Now()})
	packed, _, err := encode(mine)
	must(t, err)
	back, err := decode(bytes.NewReader(packed))
	must(t, err)
	next := mine.clone()
	next.AddSent("api", 1, time.Now().Add(time.Minute))
	next.KeepSent("api", 1)
	got, err := merge(mine, next, back, Options{})
	if err != nil || got.Sent["api"].Requests != 1 {
		t.Errorf("merged to %+v, %v; want mine: theirs did not change", got.Sent, err)
	}
}

func TestMergeSections(t *testing.T) {
	tests := []struct{ name, base, mine, theirs, want string }{
		{"mine alone", `1`, `2`, `1`, `2`},
		{"theirs alone", `1`, `1`, `2`, `2`},
		{"spaces are no change", `{"a":1}`, `{ "a": 1 }`, `{"a":2}`, `{"a":2}`},
		{"escapes are no change", `"\u003c"`, `"<"`, `"x"`, `"x"`},
		{"both, no objects", `1`, `2`, `3`, `2`},
		{"both, one an object", `1`, `{"a":2}`, `3`, `{"a":2}`},
		{"both, null", `{"a":1}`, `null`, `{"a":2}`, `null`},
		{"both, each a key", `{}`, `{"m":1}`, `{"t":2}`, `{"m":1,"t":2}`},
		{"both, the same key", `{"k":0}`, `{"k":1}`, `{"k":2}`, `{"k":1}`},
		{"both, one removed", `{"k":0,"l":0}`, `{"k":1}`, `{"k":0,"l":0,"t":2}`, `{"k":1,"t":2}`},
		{"both, a change beats a removal", `{"k":0}`, `{"m":1}`, `{"k":2}`, `{"k":2,"m":1}`},
		{"both, from something else", `7`, `{"m":1}`, `{"t":2}`, `{"m":1,"t":2}`},
		{"mine removed", `1`, ``, `1`, ``},
		{"a change beats a removal", `1`, ``, `2`, `2`},
		{"a change beats a removal of theirs", `1`, `2`, ``, `2`},
		{"both made it", ``, `{"m":1}`, `{"t":2}`, `{"m":1,"t":2}`},
	}
	section := func(content string) Document {
		var d Document
		d.SetSection("s", json.RawMessage(content))
		return d
	}
	for _, tt := range tests {
		got, err := merge(section(tt.base), section(tt.mine), section(tt.theirs), Options{})
		if err != nil || string(got.Sections["s"]) != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got.Sections["s"], err, tt.want)
		}
	}
}

func TestMergeAsksOnlyWhatBothChanged(t *testing.T) {
	asked := 0
	o := Options{Merge: map[string]Merge{"s": func(base, mine, theirs json.RawMessage) (json.RawMessage, error) {
		asked++
		if string(base) != "0" || string(mine) != "1" || string(theirs) != "2" {
			return nil, errors.New("wrong sides")
		}
		return json.RawMessage("3"), nil
	}}}
	section := func(content string) Document {
		return Document{Sections: map[string]json.RawMessage{"s": json.RawMessage(content)}}
	}
	for _, sides := range [][3]string{{"0", "1", "0"}, {"0", "0", "2"}, {"0", "0", "0"}} {
		if _, err := merge(section(sides[0]), section(sides[1]), section(sides[2]), o); err != nil || asked > 0 {
			t.Errorf("%v: asked, %v", sides, err)
		}
	}
	got, err := merge(section("0"), section("1"), section("2"), o)
	if err != nil || string(got.Sections["s"]) != "3" {
		t.Errorf("joined to %s, %v", got.Sections["s"], err)
	}
	o.Merge["s"] = func(_, _, _ json.RawMessage) (json.RawMessage, error) { return nil, errors.New("too odd") }
	if _, err := merge(section("0"), section("1"), section("2"), o); err == nil || !strings.Contains(err.Error(), `section "s"`) {
		t.Errorf("an owner's error: %v, want it with the section's name", err)
	}
}

// TestMergeName: who the state belongs to is what the side says that changed it.
func TestMergeName(t *testing.T) {
	for _, c := range []struct{ base, mine, theirs, want string }{
		{"", "", "", ""},
		{"", "shop", "", "shop"},      // the first run of a config
		{"", "", "shop", "shop"},      // a silence came first
		{"", "shop", "stock", "shop"}, // both were the first
		{"shop", "shop", "shop", "shop"},
		{"shop", "stock", "shop", "stock"}, // adopted, with an edit between
		{"shop", "shop", "stock", "stock"},
	} {
		got, err := merge(Document{Name: c.base}, Document{Name: c.mine}, Document{Name: c.theirs}, Options{})
		if err != nil || got.Name != c.want {
			t.Errorf("%q and %q made of %q: %q (%v), want %q", c.mine, c.theirs, c.base, got.Name, err, c.want)
		}
	}
}

// TestEmpty: a document is empty until something is kept in it.
func TestEmpty(t *testing.T) {
	packed, _, err := encode(Document{})
	must(t, err)
	back, err := decode(bytes.NewReader(packed))
	must(t, err)
	if !back.Empty() || !(Document{}).Empty() {
		t.Error("a new document is not empty")
	}
	if (Document{Name: "shop"}).Empty() || (Document{Daily: map[string]Daily{"api": {}}}).Empty() {
		t.Error("what holds something is empty")
	}
}

// TestMergeProperties: whatever two sides do to a document, nobody's work is
// lost, and who did nothing changes nothing.
func TestMergeProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		base := scribble(random, Document{})
		mine, theirs := scribble(random, base), scribble(random, base)
		checkMerge(t, base, mine, theirs)
		if t.Failed() {
			return
		}
	}
}

// scribble returns the document with some changes of the kind runs make.
func scribble(random *rand.Rand, d Document) Document {
	d = d.clone()
	names := []string{"a", "b", "c"}
	name := func() string { return names[random.IntN(len(names))] }
	when := func() time.Time {
		return at("2026-03-01T20:00:00Z").Add(time.Duration(random.IntN(12)) * time.Hour)
	}
	for range random.IntN(6) {
		switch random.IntN(10) {
		case 0:
			d.MarkRun(name(), when())
		case 1:
			d.AddRequests(name(), when(), random.IntN(5))
		case 2:
			d.AddSent(name(), random.IntN(5), when())
		case 3:
			d.SetLeaveAlone(name(), when())
		case 4:
			d.SetBracket(name(), Bracket{Died: time.Duration(random.IntN(3)), At: when()})
		case 5:
			d.SetVerdict(name(), name(), when())
		case 6:
			d.SetEarlyCloses(name(), map[time.Duration]time.Duration{1: time.Duration(random.IntN(3))}, nil)
		case 7:
			d.SetSection(name(), json.RawMessage([]string{`1`, `{"a":1}`, `{"b":[1, 2]}`, ``}[random.IntN(4)]))
		case 8:
			d.Prune([]string{"a", "b"}, when())
		case 9:
			d.Name = name()
		}
	}
	return d
}

// checkMerge checks what holds of every merge.
func checkMerge(t *testing.T, base, mine, theirs Document) {
	t.Helper()
	text := func(d Document) string {
		d.Version = version
		plain, err := json.Marshal(d)
		must(t, err)
		return string(plain)
	}
	joined := func(base, mine, theirs Document) Document {
		got, err := merge(base, mine, theirs, Options{})
		must(t, err)
		return got
	}
	before := text(base) + text(mine) + text(theirs)
	if got := text(joined(base, mine, base)); got != text(mine) {
		t.Errorf("who did nothing changed it:\n%s\nwant\n%s", got, text(mine))
	}
	if got := text(joined(base, base, theirs)); got != text(theirs) {
		t.Errorf("who did nothing changed it:\n%s\nwant\n%s", got, text(theirs))
	}
	both := joined(base, mine, theirs)
	if text(base)+text(mine)+text(theirs) != before {
		t.Error("merging changed what it was given")
	}
	for target, m := range mine.Daily {
		since := func(d Daily) int {
			if b := base.Daily[target]; d.Day == b.Day {
				return max(0, d.Requests-b.Requests)
			}
			return d.Requests
		}
		most, th := since(m), theirs.Daily[target]
		if th.Requests > 0 {
			most = addUp(most, since(th))
		}
		if m == base.Daily[target] || th == base.Daily[target] {
			continue // one side's: covered above
		}
		if got := both.Daily[target]; got.Requests < most && m.Requests >= base.Daily[target].Requests && th.Requests >= base.Daily[target].Requests {
			t.Errorf("%q: %+v from %+v, %+v and %+v: an increment is lost", target, got, base.Daily[target], m, th)
		}
	}
	for id := range mine.Verdicts {
		if _, kept := both.Verdicts[id]; !kept && !same(mine.Verdicts[id], base.Verdicts[id]) {
			t.Errorf("my verdict of %q is lost", id)
		}
	}
	for id := range theirs.Brackets {
		if _, kept := both.Brackets[id]; !kept && !same(theirs.Brackets[id], base.Brackets[id]) {
			t.Errorf("their bracket of %q is lost", id)
		}
	}
}

// FuzzMerge: documents of anybody's making.
func FuzzMerge(f *testing.F) {
	whole, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"version":2}`), whole, []byte(`{"version":1,"daily":{"stock-api":{"day":"2026-03-01","requests":50}}}`))
	f.Add(whole, []byte(`{"version":2,"sections":{"alert":{"a":{"b":1}}}}`), []byte(`{"version":2,"sections":{"alert":{"c":null}}}`))
	f.Add(whole, whole, whole)
	f.Fuzz(func(t *testing.T, base, mine, theirs []byte) {
		var sides [3]Document
		for i, plain := range [][]byte{base, mine, theirs} {
			d, err := decode(bytes.NewReader(pack(t, string(plain))))
			if err != nil {
				return
			}
			// As written: a map may be empty or absent, a name given twice.
			packed, _, err := encode(d)
			must(t, err)
			if sides[i], err = decode(bytes.NewReader(packed)); err != nil {
				t.Fatal(err)
			}
		}
		checkMerge(t, sides[0], sides[1], sides[2])
		both, err := merge(sides[0], sides[1], sides[2], Options{})
		must(t, err)
		packed, _, err := encode(both)
		var large *TooLargeError
		if errors.As(err, &large) {
			return
		}
		must(t, err)
		if _, err := decode(bytes.NewReader(packed)); err != nil {
			t.Errorf("what was merged cannot be read: %v", err)
		}
	})
}
