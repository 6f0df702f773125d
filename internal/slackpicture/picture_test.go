package slackpicture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"perch.example/internal/slackfake"
	"perch.example/internal/slackstory"
)

const folder = "../../docs/alerts"

// TestMain registers -update: a package variable would be a global.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the pictures in docs anew")
	os.Exit(m.Run())
}

// TestPictures keeps docs/alerts as the code says messages look. Each is XML,
// and nothing in it is wider than its place.
func TestPictures(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	synctest.Test(t, func(t *testing.T) {
		scenes, err := slackstory.Scenes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes {
			got, err := Draw(s)
			if err != nil {
				t.Fatal(err)
			}
			fits(t, s.Name, got)
			path := filepath.Join(folder, s.Name+".svg")
			if update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(want, got) {
				t.Errorf("%s is not what the code draws (%v); go test ./internal/slackpicture -update writes it anew", path, err)
			}
		}
	})
}

// fits measures each text of a picture against its right edge.
func fits(t *testing.T, name string, svg []byte) {
	t.Helper()
	w := newWidths()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	attribute := func(e xml.StartElement, name string) string {
		at := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
		if at < 0 {
			return ""
		}
		return e.Attr[at].Value
	}
	number := func(s string) float64 { f, _ := strconv.ParseFloat(s, 64); return f }
	var x float64
	var styles []style
	texts := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "text":
				x, styles = number(attribute(e, "x")), []style{{size: number(attribute(e, "font-size"))}}
				texts++
			case "tspan":
				s := styles[0]
				if size := attribute(e, "font-size"); size != "" {
					s.size = number(size)
				}
				class := strings.Fields(attribute(e, "class"))
				s.bold, s.fixed = slices.Contains(class, "b"), slices.Contains(class, "f")
				styles = append(styles, s)
			}
		case xml.CharData:
			if len(styles) > 0 {
				x += w.of(strings.TrimRight(string(e), " "), styles[len(styles)-1])
				if x > pageWidth-margin+0.5 {
					t.Errorf("%s: %q ends at %.0f of %d", name, e, x, pageWidth)
				}
			}
		case xml.EndElement:
			if n := len(styles); n > 0 && (e.Name.Local == "tspan" || e.Name.Local == "text") {
				styles = styles[:n-1]
			}
		}
	}
	if texts < 3 {
		t.Errorf("%s: %d lines of text", name, texts)
	}
}

func TestMarkup(t *testing.T) {
	base := style{size: bodySize}
	bold, code, link := base, base, base
	bold.bold, link.link = true, true
	code.fixed, code.code, code.size = true, true, bodySize-1
	for source, want := range map[string][]piece{
		"plain":                             {{"plain", base}},
		"*Bold*\na * b":                     {{"Bold", bold}, {"\na * b", base}},
		"a `x -&gt; y` b":                   {{"a ", base}, {"x -> y", code}, {" b", base}},
		"<https://a.example/?b&amp;c|Dash>": {{"Dash", link}},
		"2*3*4 &lt;b&gt;":                   {{"2*3*4 <b>", base}},
		"an open ` and <":                   {{"an open ` and <", base}},
	} {
		parts := read(source, base)
		if len(parts) != 1 || !slices.Equal(parts[0].pieces, want) {
			t.Errorf("%q is read as %+v, want %+v", source, parts, want)
		}
	}
	parts := read("head\n```\na  b\n c\n```", base)
	if len(parts) != 2 || !parts[1].code || !slices.Equal(parts[1].lines, []string{"a  b", " c"}) {
		t.Errorf("a fence is read as %+v", parts)
	}
}

func TestWrap(t *testing.T) {
	w, s := newWidths(), style{size: 10, fixed: true} // 6.03 a letter
	tests := []struct {
		text string
		room float64
		want []string
	}{
		{"one two three", 50, []string{"one two ", "three"}},
		{"one", 50, []string{"one"}},
		{"one\n\ntwo", 50, []string{"one", "", "two"}},
		{"unbreakable", 31, []string{"unbre", "akabl", "e"}},
		{"   led", 100, []string{"   led"}},
	}
	for _, tt := range tests {
		var got []string
		for _, line := range w.wrap([]piece{{tt.text, s}}, tt.room) {
			var all string
			for _, p := range line {
				all += p.text
			}
			got = append(got, all)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q in %g is %q, want %q", tt.text, tt.room, got, tt.want)
		}
	}
	// A bracket behind code goes with it to the next line.
	bold := s
	bold.bold = true
	lines := w.wrap([]piece{{"one (", s}, {"two", bold}, {") four", s}}, 50)
	want := [][]piece{{{"one ", s}}, {{"(", s}, {"two", bold}, {") ", s}}, {{"four", s}}}
	if !slices.EqualFunc(lines, want, slices.Equal[[]piece]) {
		t.Errorf("several styles are broken as %+v, want %+v", lines, want)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	for _, blocks := range []string{`[{"type":"image"}]`, `nothing`} {
		s := slackstory.Scene{Name: "x", Messages: []slackfake.Message{{Blocks: []byte(blocks)}}}
		if _, err := Draw(s); err == nil {
			t.Errorf("%s was drawn", blocks)
		}
	}
	s := slackstory.Scene{Messages: []slackfake.Message{{TS: "1", Blocks: []byte(`[]`)}}, Files: []slackfake.File{{Thread: "1", Content: []byte("no picture")}}}
	if _, err := Draw(s); err == nil {
		t.Error("a file that is no picture was drawn")
	}
}
