package alert

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"perch.example/probes"
)

// TestMain registers -update: a package variable would be a global.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files anew")
	os.Exit(m.Run())
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// goldenNotices are the notices whose looks are kept.
func goldenNotices(t testing.TB) map[string]Notice {
	t.Helper()
	_, told := decideAll(options, incident(), incident(), mended(), mended())
	down := single("stock-api", "calendar", probes.VerdictFail, probes.DiagnosisUnreachable, probes.FamilyReachability)
	down.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledIn, Evidence: "two fresh connections were refused"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOpen, Evidence: "no other target answered in this run"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "perch was 0.1 ms late"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledOut, Evidence: "fresh connections fail too"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "no 429"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledOpen, Evidence: "no client declared"},
	}
	down.Advice = []string{"Not the pool, stop looking there: fresh connections fail too. Ask the API's owner what listens on 192.0.2.10:443"}
	repeat := told[1][0]
	repeat.PossibleRepeat, repeat.Waited = true, 3600e9
	all := kindNotices(t)
	all["firing"], all["resolved"] = told[1][0], told[3][0]
	all["preview"], all["repeat"] = Preview(runOf(down), options(0))[0], repeat
	return all
}

func TestGolden(t *testing.T) {
	for name, n := range goldenNotices(t) {
		blocks, err := json.Marshal(Blocks(n))
		if err != nil {
			t.Fatal(err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, blocks, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", append(indented.Bytes(), '\n'))
		golden(t, name+".txt", []byte(Text(n)))
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if updating() {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it anew\ngot\n%s\nwant\n%s", name, got, want)
	}
}
