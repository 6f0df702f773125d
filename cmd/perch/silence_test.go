package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/lab"
	"perch.example/state"
)

// TestSilences adds, lists and ends silences on both stores, and runs between.
func TestSilences(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := configFile(t, startLab(t, "status", lab.Options{}).URL(), strings.Replace(remembering, "STATE", store.state, 1))
			on := func(code int, args ...string) ran {
				t.Helper()
				r := perch(t.Context(), store.env, append(args, "--config", path)...)
				if r.code != code {
					t.Fatalf("perch %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
				}
				return r
			}
			want(t, "an empty list", on(exitOK, "silence", "list").stdout, "no silences")
			added := on(exitOK, "silence", "add", "*/get", "--for", "2h", "--reason", "maintenance", "--by", "ann").stdout
			id, _, _ := strings.Cut(added, " ")
			want(t, "add", added, "mutes api/get from ")
			day := time.Now().AddDate(0, 0, 7).UTC().Format(time.DateOnly)
			on(exitOK, "silence", "add", "api", "--from", day, "--until", day, "--reason", "moving")

			// A run reads them, mutes, says so, and keeps them.
			want(t, "the report", on(exitFindings, "run", "--all").stdout, "muted until", "(maintenance)")

			list := on(exitOK, "silence", "list").stdout
			want(t, "the list", list, "ID", "MATCH", "STATE", "active", "pending", "ann", "maintenance")
			want(t, "expire", on(exitOK, "silence", "expire", id[:3]).stdout, id+" (*/get) ended at ")
			want(t, "expire", on(exitUsage, "silence", "expire", "zzz").stderr, `no silence "zzz"; there are: `, id)
			var all []listed
			if err := json.Unmarshal([]byte(on(exitOK, "silence", "list", "--output", "json").stdout), &all); err != nil {
				t.Fatal(err)
			}
			states := map[string]silenceState{}
			for _, s := range all {
				states[s.Match] = s.State
			}
			if len(all) != 2 || states["*/get"] != silenceOver || states["api"] != silencePending {
				t.Errorf("the list holds %+v", all)
			}
			if r := on(exitFindings, "run", "--all"); strings.Contains(r.stdout, "muted until") {
				t.Errorf("the silence was ended, and still mutes:\n%s", r.stdout)
			}
		})
	}
}

// TestSilencesOfTheConfig are listed beside, and cannot be ended here.
func TestSilencesOfTheConfig(t *testing.T) {
	t.Parallel()
	text := strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1)
	text = strings.Replace(text, "settle: none", "settle: none, silences: [{match: api/*, until: 2020-01-01, reason: long ago}]", 1)
	path := configFile(t, "http://127.0.0.1:1", text)
	r := perch(t.Context(), nil, "silence", "list", "--config", path)
	if !regexp.MustCompile(`- +api/\* +over +- +2020-01-02 00:00 UTC +config +long ago`).MatchString(r.stdout) {
		t.Errorf("the list:\n%s%s", r.stdout, r.stderr)
	}
}

// TestWrongSilences say what would be right.
func TestWrongSilences(t *testing.T) {
	t.Parallel()
	with := configFile(t, "http://127.0.0.1:1", strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1))
	without := configFile(t, "http://127.0.0.1:1", oneProbe)
	reason := "--reason=x"
	for _, c := range []struct {
		path string
		args []string
		says string
	}{
		{without, []string{"add", "api", "--for=1h", reason}, "state: {file:"},
		{without, []string{"list"}, "names no state"},
		{with, []string{"add", "apo", "--for=1h", reason}, `"apo" matches no probe of the config; there are: api/get`},
		{with, []string{"add", "[", "--for=1h", reason}, "matches no probe"},
		{with, []string{"add", "api", "--for=1h"}, "--reason TEXT"},
		{with, []string{"add", "api", reason}, "--for DURATION or --until TIME"},
		{with, []string{"add", "api", "--for=1h", "--until=2030-01-01", reason}, "one of them"},
		{with, []string{"add", "api", "--for=-1h", reason}, "such as 90m, 2h or 3d"},
		{with, []string{"add", "api", "--for=1x", reason}, "such as 90m, 2h or 3d"},
		{with, []string{"add", "api", "--for=500d", reason}, "within a year"},
		{with, []string{"add", "api", "--until=2020-01-01", reason}, "is not after"},
		{with, []string{"add", "api", "--from=2020-01-01", "--until=2020-02-01", reason}, "which is over"},
		{with, []string{"add", "api", "--until=tomorrow", reason}, "a time with its zone"},
		{with, []string{"add", "api", "--until=2030-01-01T10:00", reason}, "a time with its zone"},
		{with, []string{"add"}, "want a MATCH: a target, a probe (target/probe) or a pattern; for example: perch silence add "},
		{with, []string{"add", "api", "web", "--for=1h", reason}, `want one MATCH, got 2 arguments (["api" "web"])`},
		{with, []string{"expire"}, "perch silence list shows them; for example: perch silence expire "},
		{with, []string{"add", "api", "--for=1h", "--reason=a\nb"}, `--reason "a\nb": want one line of text`},
		{with, []string{"add", "api", "--for=1h", "--reason=a\tb"}, "--reason"},
		{with, []string{"add", "api", "--for=1h", "--reason=a\x1b[2Jb"}, "--reason"},
		{with, []string{"add", "api", "--for=1h", "--reason=a\u202eb"}, "--reason"},
		{with, []string{"add", "api", "--for=1h", "--reason=a\u2028b"}, "--reason"},
		{with, []string{"add", "api", "--for=1h", "--reason=a\xffb"}, "--reason"},
		{with, []string{"add", "api", "--for=1h", reason, "--by=ann\nbob"}, `--by "ann\nbob": want one line of text`},
		{with, []string{"add", "api", "--for=1h", "--reason=" + strings.Repeat("é", 501)}, "--reason has 501 characters: want 500 at most"},
		{with, []string{"add", "api", "--for=1h", reason, "--by=" + strings.Repeat("a", 501)}, "--by has 501 characters"},
		{with, []string{"add", "api" + strings.Repeat("*", 501), "--for=1h", reason}, "MATCH has 504 characters"},
		{with, []string{"expire", "abc"}, "the state keeps none"},
		{with, []string{"list", "--output", "xml"}, "text or json"},
	} {
		r := perch(t.Context(), nil, append(append([]string{"silence"}, c.args...), "--config", c.path)...)
		if r.code != exitUsage {
			t.Errorf("silence %q: exit status %d, want 2", c.args, r.code)
		}
		want(t, strings.Join(c.args, " "), r.stderr, c.says)
	}
}

func TestSilenceTimes(t *testing.T) {
	now := time.Date(2026, 12, 31, 10, 0, 0, 5, time.UTC)
	at := func(s string) time.Time {
		d, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		when        silenceWhen
		from, until string
	}{
		{silenceWhen{during: "2h"}, "2026-12-31T10:00:00Z", "2026-12-31T12:00:00Z"},
		{silenceWhen{during: "1d12h"}, "2026-12-31T10:00:00Z", "2027-01-01T22:00:00Z"},
		{silenceWhen{during: "3d", from: "2027-01-01"}, "2027-01-01T00:00:00Z", "2027-01-04T00:00:00Z"},
		{silenceWhen{until: "2026-12-31T15:00Z"}, "2026-12-31T10:00:00Z", "2026-12-31T15:00:00Z"},
		{silenceWhen{until: "2027-01-01T00:00:00+09:00"}, "2026-12-31T10:00:00Z", "2026-12-31T15:00:00Z"},
		{silenceWhen{from: "2026-12-31T15:00Z", until: "2027-01-01"}, "2026-12-31T15:00:00Z", "2027-01-02T00:00:00Z"},
	} {
		from, until, err := c.when.times(now)
		if err != nil || !from.Equal(at(c.from)) || !until.Equal(at(c.until)) {
			t.Errorf("%+v: %s to %s (%v), want %s to %s", c.when, from, until, err, c.from, c.until)
		}
	}
}

func FuzzSilenceTimes(f *testing.F) {
	for _, seed := range []string{"2h", "3d", "1d12h", "d", "9999999999d", "2026-12-31", "2026-12-31T15:00Z", "-1h", ""} {
		f.Add(seed)
	}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range []silenceWhen{{during: text}, {until: text}, {from: text, during: "1h"}} {
			from, until, err := w.times(now)
			if err == nil && (!until.After(from) || !until.After(now) || until.Sub(now) > longestSilence) {
				t.Errorf("%+v: %s to %s", w, from, until)
			}
		}
	})
}

// TestOldSilencesAreForgotten a week after their end.
func TestOldSilencesAreForgotten(t *testing.T) {
	now := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	all := silences{
		"new": {Silence: alert.Silence{ID: "new", Until: now.Add(-6 * 24 * time.Hour)}},
		"old": {Silence: alert.Silence{ID: "old", Until: now.Add(-8 * 24 * time.Hour)}},
	}
	var d state.Document
	if err := all.put(&d, now); err != nil {
		t.Fatal(err)
	}
	kept, err := silencesOf(d)
	if err != nil || len(kept) != 1 || kept["new"].ID != "new" {
		t.Errorf("kept %v (%v), want new alone", kept, err)
	}
}

// TestWhoAddsASilence: the flag, else the environment, else the system, else
// nobody; never something that breaks a list.
func TestWhoAddsASilence(t *testing.T) {
	for _, c := range []struct{ by, user, system, want string }{
		{"ann", "bob", "carl", "ann"}, {"", "bob", "carl", "bob"}, {"", "", "carl", "carl"}, {"", "", "", ""}, {"", "bo\tb\n", "", "bo b"},
	} {
		sys := system{env: func(string) (string, bool) { return c.user, c.user != "" }, user: func() string { return c.system }}
		if got := who(sys, c.by); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := who(system{env: func(string) (string, bool) { return "", false }}, ""); got != "" {
		t.Errorf("nobody is %q", got)
	}
}

// TestAListStaysAList, whatever a state or a config says.
func TestAListStaysAList(t *testing.T) {
	var out strings.Builder
	odd := listed{ID: "1\n2", Match: "a\tb", Until: time.Now(), Reason: "c\r\n\x1b[2Jd\u202e 日本語", By: "e\x00"}
	if err := writeSilences(&out, []listed{odd, {ID: "3"}}, "text"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 3 || strings.ContainsAny(out.String(), "\r\t\x1b\x00\u202e") {
		t.Errorf("%d lines, want 3 of plain text: %q", n, out.String())
	}
	want(t, "the list", out.String(), "日本語")
}
