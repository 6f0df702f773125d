package state

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sample is a document with something in every field.
func sample() Document {
	d := Document{Version: version}
	now := at("2026-03-01T10:00:00.123456789Z")
	d.MarkRun("stock-api/calendar", now)
	d.AddRequests("stock-api", now, 42)
	d.SetEarlyCloses("stock-api/calendar-idle", map[time.Duration]time.Duration{59 * time.Second: 1001 * time.Millisecond}, nil)
	d.SetSection("alert", json.RawMessage(`{"incidents":[]}`))
	return d
}

// pack zips any bytes as a state file holds them.
func pack(t testing.TB, plain string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for name, d := range map[string]Document{"empty": {Version: version}, "full": sample()} {
		packed, _, err := encode(d)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, d) {
			t.Errorf("%s: read back %+v, want %+v", name, back, d)
		}
	}
}

// TestFormat pins the file's JSON: another version of perch reads it.
func TestFormat(t *testing.T) {
	plain, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":2,"due":{"stock-api/calendar":"2026-03-01T10:00:00.123456789Z"},` +
		`"daily":{"stock-api":{"day":"2026-03-01","requests":42}},` +
		`"early_closes":{"stock-api/calendar-idle":{"59000000000":1001000000}},` +
		`"sections":{"alert":{"incidents":[]}}}`
	if string(plain) != want {
		t.Errorf("the document is written as\n%s\nwant\n%s", plain, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := pack(t, `{"version":1}`)
	tests := []struct {
		name, want string
		content    []byte
	}{
		{"nothing", "unpacking", nil},
		{"not gzip", "unpacking", []byte(`{"version":1}`)},
		{"cut short", "unpacking", whole[:len(whole)-3]},
		{"a flipped bit", "", flip(whole)},
		{"rubbish behind", "unpacking", append(bytes.Clone(whole), "rubbish"...)},
		{"a second document behind", "decoding", append(bytes.Clone(whole), whole...)},
		{"not JSON", "decoding", pack(t, "hello")},
		{"two values", "decoding", pack(t, `{"version":1}{}`)},
		{"no version", "no version", pack(t, `{"due":{}}`)},
		{"version 0", "no version", pack(t, `{"version":0}`)},
		{"wrong type", "decoding", pack(t, `{"version":1,"due":[]}`)},
		{"a hold that is no number", "decoding", pack(t, `{"version":1,"early_closes":{"a/b":{"x":1}}}`)},
		{"requests below nothing", "checking", pack(t, `{"version":1,"daily":{"a":{"day":"2026-03-01","requests":-1}}}`)},
		{"requests below nothing, the day before", "checking", pack(t, `{"version":1,"daily_before":{"a":{"day":"2026-03-01","requests":-1}}}`)},
		{"a day that is none", "checking", pack(t, `{"version":1,"daily":{"a":{"day":"9999","requests":1}}}`)},
		{"unpacks beyond the bound", errTooLarge.Error(), pack(t, `{"version":1`+strings.Repeat(" ", maxPlain)+`}`)},
		{"a file beyond the bound", errTooLarge.Error(), make([]byte, maxPacked+1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decode(bytes.NewReader(tt.content))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("decoding: %v, want an error with %q", err, tt.want)
			}
			var newer newerError
			if errors.As(err, &newer) {
				t.Errorf("taken for a newer version: %v", err)
			}
		})
	}
}

func flip(content []byte) []byte {
	changed := bytes.Clone(content)
	changed[len(changed)/2] ^= 4
	return changed
}

func TestDecodeKnowsANewerVersion(t *testing.T) {
	// Later formats may change every other field.
	_, err := decode(bytes.NewReader(pack(t, `{"version":3,"due":["another","shape"]}`)))
	var newer newerError
	if !errors.As(err, &newer) || newer.version != 3 {
		t.Errorf("decoding version 3: %v, want a newerError", err)
	}
}

func TestEncodeRefusesTooMuch(t *testing.T) {
	d := sample()
	content, err := json.Marshal(strings.Repeat("x", maxPlain))
	if err != nil {
		t.Fatal(err)
	}
	d.SetSection("alert", content)
	if _, _, err := encode(d); err == nil || !strings.Contains(err.Error(), `section "alert"`) {
		t.Errorf("encoding too much: %v, want an error that names the section", err)
	}
}

// TestNoiseFits: the bound on the file holds whatever encode lets through, also
// where gzip cannot pack.
func TestNoiseFits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, maxPlain)
	for i := 0; i < len(noise); i += 8 {
		binary.LittleEndian.PutUint64(noise[i:], random.Uint64())
	}
	if packed := pack(t, string(noise)); len(packed) > maxPacked {
		t.Errorf("%d bytes of noise take %d in the file, and %d are read", maxPlain, len(packed), maxPacked)
	}
}

func FuzzDecode(f *testing.F) {
	full, _, err := encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add(full[:len(full)/2])
	f.Add(flip(full))
	f.Add(pack(f, `{"version":3}`))
	f.Add(pack(f, `{"version":1,"sections":{"alert":null}}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		check := func(content []byte) {
			d, err := decode(bytes.NewReader(content))
			if err != nil {
				return
			}
			// What was read can be worked with, and written again to the same effect.
			now := at("2026-03-01T10:00:00Z")
			d.IsDue("a/b", time.Minute, now)
			d.MarkRun("a/b", now)
			d.AddRequests("a", now, 1)
			d.Prune([]string{"a/b"}, now)
			packed, _, err := encode(d)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			if _, err := decode(bytes.NewReader(packed)); err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
		}
		check(content)
		check(pack(t, string(content))) // the fuzzer seldom finds a valid gzip by itself
	})
}
