package state

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestVersion1IsRead: a file that a perch of version 1 wrote, and its content
// as that one understood it. Nothing of it is lost, in either store.
func TestVersion1IsRead(t *testing.T) {
	packed, err := os.ReadFile(filepath.Join("testdata", "v1.state"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join("testdata", "v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(plain, &want); err != nil {
		t.Fatal(err)
	}
	if want["version"] != 1.0 {
		t.Fatalf("the golden file has version %v", want["version"])
	}
	want["version"] = float64(version)
	conform(t, func(t *testing.T, s site) {
		s.put(packed)
		run, d := s.begin(t)
		must(t, run.Save(t.Context(), d))
		d, err := s.read(t.Context())
		must(t, err)
		text, err := json.Marshal(d)
		must(t, err)
		var got map[string]any
		must(t, json.Unmarshal(text, &got))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read and saved\n%v, want\n%v", got, want)
		}
	})
}
