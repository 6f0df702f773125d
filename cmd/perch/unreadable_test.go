package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/probes"
	"perch.example/state"
)

// withSections is the state of a config named noted, with sections as they
// stand there.
func withSections(sections map[string]string) state.Document {
	d := state.Document{Name: "noted"}
	for name, content := range sections {
		d.SetSection(name, json.RawMessage(content))
	}
	return d
}

// TestSilencesThatCannotBeRead stay where they are, and take no other with
// them.
func TestSilencesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	good := `"11111111":{"id":"11111111","match":"api","until":"` + until + `","reason":"known"}`
	for _, c := range []struct {
		name, section string
		kept          []string // of the section, after a run
		muted         bool
		said          string
	}{
		{"a list", `[1]`, []string{`[1]`}, false, "reading the silences: "},
		{"one with a bad time", `{` + good + `,"22222222":{"match":"api","until":"tomorrow"}}`, []string{`"until":"tomorrow"`, `"known"`}, true, `reading the silence "22222222": `},
		{"one that is a number", `{"22222222":7,` + good + `}`, []string{`"22222222":7`, `"known"`}, true, `reading the silence "22222222": `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := &diary{doc: withSections(map[string]string{sectionSilences: c.section})}
			p, _ := newPass(t, noted, d)
			run := take(t, p, probes.VerdictFail)
			want(t, "the section", string(d.doc.Sections[sectionSilences]), c.kept...)
			if len(run.Problems) != 1 || run.Problems[0].Part != probes.PartState {
				t.Fatalf("problems %v, want one of the state", run.Problems)
			}
			want(t, "the problem", run.Problems[0].Text, c.said)
			told := strings.Contains(strings.Join(d.events, " "), "slack")
			if told == c.muted {
				t.Errorf("told %v; want muted %v", told, c.muted)
			}
		})
	}
}

// TestNoSilences: null is none, and one can be added.
func TestNoSilences(t *testing.T) {
	t.Parallel()
	d := withSections(map[string]string{sectionSilences: "null"})
	all, err := silencesOf(d)
	if err != nil || all == nil {
		t.Fatalf("%v, %v; want none, and no error", all, err)
	}
	all["1"] = silence{Silence: alert.Silence{ID: "1", Match: "api", Until: time.Now()}}
	if err := all.put(&d, time.Now()); err != nil {
		t.Fatal(err)
	}
	want(t, "the section", string(d.Sections[sectionSilences]), `"match":"api"`)
}

// TestASilenceThatCannotBeReadIsListedAndRemoved by who sees it, on the way
// that the error names.
func TestASilenceThatCannotBeReadIsListedAndRemoved(t *testing.T) {
	t.Parallel()
	path := configFile(t, "http://127.0.0.1:1", strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1))
	sys := system{env: func(string) (string, bool) { return "", false }, readFile: os.ReadFile}
	cfg, err := loadConfig(sys, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := editState(t.Context(), sys, cfg, func(d *state.Document) error {
		d.SetSection(sectionSilences, json.RawMessage(`{"22222222":7}`))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"silence", "add", "api", "--for", "1h", "--reason", "r"}, exitOK, "mutes api/get"},
		{[]string{"silence", "list"}, exitOwn, "22222222"},
		{[]string{"silence", "list"}, exitOwn, "unreadable"},
		{[]string{"silence", "expire", "2222"}, exitOK, "22222222"},
		{[]string{"silence", "list"}, exitOK, "active"},
	} {
		r := perch(t.Context(), nil, append(step.args, "--config", path)...)
		if r.code != step.code {
			t.Fatalf("%q: exit status %d, want %d\n%s%s", step.args, r.code, step.code, r.stdout, r.stderr)
		}
		want(t, strings.Join(step.args, " "), r.stdout, step.want)
	}
}

// TestSectionsThatCannotBeRead are kept under another name, the latest of each.
func TestSectionsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for section, content := range map[string]string{
		sectionAlert:   `{"incidents":"of a later perch"}`,
		sectionMetrics: `{"v":9,"vectors":[]}`,
	} {
		t.Run(section, func(t *testing.T) {
			t.Parallel()
			old := section + unreadable + "20260101T000000Z"
			d := &diary{doc: withSections(map[string]string{section: content, old: `{"incidents":7}`, "other.unreadable-1": "1"})}
			p, _ := newPass(t, noted, d)
			at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
			p.sys.now = func() time.Time { return at }
			run := take(t, p, probes.VerdictPass)
			name := section + ".unreadable-20261130T100000Z"
			if got := string(d.doc.Sections[name]); got != content {
				t.Errorf("section %s holds %q, want %q; there are %q", name, got, content, d.doc.Sections)
			}
			if string(d.doc.Sections[section]) == content || d.doc.Sections[old] != nil || d.doc.Sections["other.unreadable-1"] == nil {
				t.Errorf("the sections are %q; want %s new, its older one dropped, another's kept", d.doc.Sections, section)
			}
			if len(run.Problems) != 1 || run.Problems[0].Part != probes.PartState {
				t.Fatalf("problems %v, want one of the state", run.Problems)
			}
			want(t, "the problem", run.Problems[0].Text, `kept as section "`+name+`"`)

			// The next run says nothing of it, and keeps it.
			p, _ = newPass(t, noted, d)
			if run = take(t, p, probes.VerdictPass); len(run.Problems) > 0 || string(d.doc.Sections[name]) != content {
				t.Errorf("the next run: problems %v, kept %q", run.Problems, d.doc.Sections[name])
			}
		})
	}
}

// TestWhatIsSetAsideGoesWhereThereIsNoRoom: better without it than without a
// state.
func TestWhatIsSetAsideGoesWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	name := sectionAlert + unreadable + "20260101T000000Z"
	d := &diary{doc: withSections(map[string]string{name: "[]"}), fails: func(event string, nth int) error {
		if event == "save" && nth == 1 {
			return &state.TooLargeError{Size: 2, Limit: 1, Largest: "section"}
		}
		return nil
	}}
	p, log := newPass(t, noted, d)
	run := take(t, p, probes.VerdictPass)
	if len(run.Problems) > 0 || d.doc.Sections[name] != nil {
		t.Errorf("problems %v, sections %q", run.Problems, d.doc.Sections)
	}
	want(t, "the log", log.String(), "could not be read, and were kept, are dropped")
}

// TestAClockAheadForgetsNoSilence: a run that believes to be two years ahead
// keeps what is in force.
func TestAClockAheadForgetsNoSilence(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	d := &diary{}
	at := func(when time.Time) {
		t.Helper()
		p, _ := newPass(t, noted, d)
		p.sys.now = func() time.Time { return when }
		if run := take(t, p, probes.VerdictPass); len(run.Problems) > 0 {
			t.Fatal(run.Problems)
		}
	}
	at(now)
	all := silences{"1": {Silence: alert.Silence{ID: "1", Match: "api", Until: now.AddDate(0, 0, 300), Reason: "long"}}}
	if err := all.put(&d.doc, now); err != nil {
		t.Fatal(err)
	}
	at(now.AddDate(2, 0, 0))
	at(now.Add(time.Minute))
	if got, err := silencesOf(d.doc); err != nil || len(got) != 1 {
		t.Errorf("%d silences are left (%v), want the one that is in force", len(got), err)
	}
	for n := range 3 {
		at(now.AddDate(0, 0, 308).Add(time.Duration(n) * time.Minute))
	}
	if got, err := silencesOf(d.doc); err != nil || len(got) != 0 {
		t.Errorf("%d silences are left (%v), want none: it is over for more than a week", len(got), err)
	}
}

// TestManySilences are not all named in an error.
func TestManySilences(t *testing.T) {
	t.Parallel()
	all := silences{}
	for i := range 1000 {
		id := "a" + strings.Repeat("b", i%7) + string(rune('a'+i%26)) + time.Duration(i).String()
		all[id] = silence{Silence: alert.Silence{ID: id, Until: time.Now()}}
	}
	for _, prefix := range []string{"a", "zz"} {
		_, err := all.expire([]string{prefix}, time.Now())
		if err == nil || len(err.Error()) > 500 {
			t.Fatalf("%.600v; want a short error", err)
		}
		want(t, "the error", err.Error(), "perch silence list")
	}
}

// TestABaseThatCannotBeRead is as none: it was set aside.
func TestABaseThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if _, err := joinMemories(json.RawMessage(`7`), json.RawMessage(`{}`), json.RawMessage(`{}`)); err != nil {
		t.Error(err)
	}
	if _, err := joinMemories(nil, json.RawMessage(`7`), json.RawMessage(`{}`)); err == nil {
		t.Error(errors.New("mine cannot be read, and is joined"))
	}
}
