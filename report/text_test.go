package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/probes"
)

// -update rewrites the golden files. Look at what it wrote before you commit.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if updating() {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it and run the tests with -update.\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

func runs() map[string]probes.Run {
	return map[string]probes.Run{
		"pass": allPass(), "incident": incident(), "silent_drop": silentDrop(), "service_down": serviceDown(),
		"incomplete": incomplete(), "problems": withProblems(), "mixed": mixed(),
		"nothing_due": nothingDue(), "no_keep_alive": noKeepAlive(), "undeclared": undeclared(), "accepted": accepted(),
	}
}

func text(t *testing.T, run probes.Run, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, run, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	for name, run := range runs() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", []byte(text(t, run, Style{})))
		})
	}
	t.Run("narrow", func(t *testing.T) { golden(t, "incident_narrow.txt", []byte(text(t, incident(), Style{Width: 60}))) })
	t.Run("colour", func(t *testing.T) {
		got := strings.ReplaceAll(text(t, incident(), Style{Color: true}), "\x1b", "ESC")
		golden(t, "incident_color.txt", []byte(got))
	})
}

func TestIdleGolden(t *testing.T) {
	for name, run := range map[string]probes.Run{
		"idle": search(), "idle_survived": survivedSearch(), "idle_unreachable": unreachableSearch(), "idle_silent": silentSearch(),
	} {
		for file, style := range map[string]Style{name: {}, name + "_narrow": {Width: 80}} {
			if file != name && name != "idle" && name != "idle_silent" {
				continue // without clients nothing differs that others do not show
			}
			t.Run(file, func(t *testing.T) {
				var b bytes.Buffer
				if err := Idle(&b, run, style); err != nil {
					t.Fatal(err)
				}
				golden(t, file+".txt", b.Bytes())
			})
		}
	}
}

func unreachableSearch() probes.Run {
	run := serviceDown()
	run.Outcomes = run.Outcomes[1:3]
	return run
}
