package calls

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

func TestRead(t *testing.T) {
	first := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	none := time.Duration(-1)
	for _, tt := range []struct {
		name, text string
		want       []clients.Call
		skipped    int
		spread     bool
	}{
		{"RFC 3339", "2026-03-02T10:00:00.5Z\n2026-03-02T11:00:02.5+01:00\n", []clients.Call{{At: 0, Took: none}, {At: 2 * sec, Took: none}}, 0, false},
		{"with how long", "2026-03-02T10:00:00.5Z 0.25\r\n2026-03-02T10:00:01.5Z,120ms\n", []clients.Call{{At: 0, Took: 250 * ms}, {At: sec, Took: 120 * ms}}, 0, false},
		{"seconds since 1970", "1772445600.25\n1772445600.5", []clients.Call{{At: 0, Took: none}, {At: 250 * ms, Took: none}}, 0, false},
		{"milliseconds", "1772445600250\n1772445600500", []clients.Call{{At: 0, Took: none}, {At: 250 * ms, Took: none}}, 0, false},
		{"microseconds and nanoseconds", "1772445600250000\n1772445600500000000", []clients.Call{{At: 0, Took: none}, {At: 250 * ms, Took: none}}, 0, false},
		{"comments, a head and what is none", "time took\n# shop\n\n1.5\nnonsense\n2.5\n", []clients.Call{{At: 0, Took: none}, {At: sec, Took: none}}, 2, false},
		{"any order", "3.5\n1.5\n2.5", []clients.Call{{At: 0, Took: none}, {At: sec, Took: none}, {At: 2 * sec, Took: none}}, 0, false},
		{"whole seconds are spread", "10\n10\n11\n10\n10", []clients.Call{{At: 0, Took: none}, {At: 250 * ms, Took: none}, {At: 500 * ms, Took: none}, {At: 750 * ms, Took: none}, {At: sec, Took: none}}, 0, true},
		{
			"common", `192.0.2.1 - - [02/Mar/2026:10:00:00 +0000] "GET /a?token=geheim HTTP/1.1" 200 512` + "\n" +
				`192.0.2.1 - - [02/Mar/2026:10:00:02 +0000] "GET /a HTTP/1.1" 200 512` + "\n",
			[]clients.Call{{At: 0, Took: none}, {At: 2 * sec, Took: none}}, 0, false,
		},
		{
			"combined with nginx's request time", `192.0.2.1 - - [02/Mar/2026:10:00:01 +0000] "GET / HTTP/1.1" 200 512 "-" "curl" 0.500` + "\n" +
				`192.0.2.1 - - [02/Mar/2026:10:00:03 +0000] "GET / HTTP/1.1" 200 512 "-" "curl" rt=0.250` + "\n",
			[]clients.Call{{At: 0, Took: 500 * ms}, {At: 2250 * ms, Took: 250 * ms}}, 0, false,
		},
		{
			"JSON", `{"time":"2026-03-02T10:00:01.5Z","request_time":"0.5","uri":"/x?secret=1"}` + "\n" + `{"msec":1772445602.5,"duration_ms":250}` + "\nnot JSON\n",
			[]clients.Call{{At: 0, Took: 500 * ms}, {At: 1250 * ms, Took: 250 * ms}}, 1, false,
		},
		{"JSON, when it began", `{"start_time":"2026-03-02T10:00:01.5Z","duration":2}` + "\n" + `{"start_time":"2026-03-02T10:00:02.5Z","duration":2}`, []clients.Call{{At: 0, Took: 2 * ms}, {At: sec, Took: 2 * ms}}, 0, false},
		{"a very long line", "1.5 " + strings.Repeat("x", 3*longestLine) + "\n2.5\n", []clients.Call{{At: 0, Took: none}, {At: sec, Took: none}}, 0, false},
		{"CRLF and a byte order mark", "\xef\xbb\xbf1.5\r\n\r\n2.5\r\n", []clients.Call{{At: 0, Took: none}, {At: sec, Took: none}}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tt.text), "calls.txt")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Calls, tt.want) || got.Skipped != tt.skipped || got.Spread != tt.spread || got.Dropped != 0 {
				t.Errorf("%+v, want %+v, %d skipped, spread %t", got, tt.want, tt.skipped, tt.spread)
			}
		})
	}
	got, err := Read(strings.NewReader("2026-03-02T10:00:00Z"), "x")
	if err != nil || !got.First.Equal(first) || got.Lines != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOrderDoesNotMatter: a log says the same however its lines are shuffled, also where its times are whole seconds.
func TestOrderDoesNotMatter(t *testing.T) {
	for name, lines := range map[string][]string{
		"whole seconds":   {"10 1ms", "10 900ms", "10 20ms failed", "10", "10 20ms", "11 5ms", "11 1ms", "12"},
		"answers":         {common(0, "0.001"), common(0, "0.900"), common(0, "0.020"), common(1, "1.000"), common(1, "0.020"), common(1, "-")},
		"of one instant":  {"1.5 1ms", "1.5 900ms", "1.5 20ms failed", "1.5", "1.5 20ms"},
		"and of its kind": {`{"ts":1.5,"took_ms":20}`, `{"start_time":"1970-01-01T00:00:01.5Z","duration":20}`, `{"ts":1.5,"took_ms":20,"err":"EOF"}`},
	} {
		want := Log{}
		dice := rand.New(rand.NewPCG(1, 2))
		for n := range 50 {
			got, err := Read(strings.NewReader(strings.Join(lines, "\n")), "calls.txt")
			if err != nil || len(got.Calls) != len(lines) {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
			if n == 0 {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %+v\nof %q, want\n%+v", name, got, lines, want)
			}
			dice.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
	}
}

// common is a line of nginx, so many seconds after ten, with its $request_time.
func common(second int, took string) string {
	return fmt.Sprintf(`192.0.2.1 - - [02/Mar/2026:10:00:%02d +0000] "GET / HTTP/1.1" 200 512 "-" "curl" %s`, second, took)
}

// broken is a file that cannot be read to its end.
type broken struct{ text *strings.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("the disk is gone")
	}
	return n, err
}

// TestReadRefuses: an error says file and line, and nothing of what the file holds.
func TestReadRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		r    io.Reader
		want string
	}{
		"empty":          {strings.NewReader(""), "calls.txt: no call in 0 lines"},
		"comments":       {strings.NewReader("# a\n\n"), "calls.txt: no call in 2 lines"},
		"something else": {strings.NewReader("geheim\ngeheim\n"), "calls.txt:2: no time of a call: want RFC 3339"},
		"turns into it":  {strings.NewReader("head\n1.5\n2.5\n" + strings.Repeat("geheim\n", 1000)), "calls.txt:4: no time of a call: want a time, RFC 3339 or seconds since 1970, as on line 2; 1001 of 1003 lines are like this one"},
		"dates":          {strings.NewReader("20261101\n20261102\n"), "calls.txt:2: no time"},
		"UTF-16":         {strings.NewReader("\xff\xfe1\x00.\x005\x00\n\x002\x00"), "calls.txt:2: no time"},
		"one line":       {strings.NewReader("geheim"), "calls.txt: no call in 1 lines"},
		"broken":         {broken{strings.NewReader("1.5\n2.5\n")}, "calls.txt:3: the disk is gone"},
		"before 1970":    {strings.NewReader("1960-01-01T00:00:00Z\n-5\n"), "calls.txt:2: no time"},
		"much too late":  {strings.NewReader("99999-01-01T00:00:00Z\n9999999999999999999999\n"), "calls.txt:2: no time"},
	} {
		_, err := Read(tt.r, "calls.txt")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// endless is so many lines, without holding them.
type endless struct{ line, lines int }

func (e *endless) Read(p []byte) (int, error) {
	if e.line == e.lines {
		return 0, io.EOF
	}
	n := copy(p, fmt.Sprintf("%d.5\n", 1_000_000+e.line))
	e.line++
	return n, nil
}

// TestReadIsBounded: of a file with more calls than are kept the last ones are.
func TestReadIsBounded(t *testing.T) {
	got, err := Read(&endless{lines: Most + 1234}, "calls.txt")
	if err != nil || len(got.Calls) != Most || got.Dropped != 1234 || got.First.Unix() != 1_001_234 || got.Calls[Most-1].At != (Most-1)*sec {
		t.Errorf("%d calls from %s on, %d dropped, %v", len(got.Calls), got.First, got.Dropped, err)
	}
}

// FuzzRead: whatever a file holds, calls come in order, none is before the first, none that failed says how long it took, and no error shows the file.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"2026-03-02T10:00:00.5Z 0.25\n3\n", "1.5 1ms failed\n2.5 60ms\n", "1772445600250\n", `{"time":"2026-03-02T10:00:01.5Z","request_time":0.5}`,
		`h - - [02/Mar/2026:10:00:01 +0000] "GET / HTTP/1.1" 200 512 "-" "-" 0.12`, "10\n10\n9223372036854775807\n", "1e9\n0.0.0\n",
		`[2026-03-02T10:00:01.500Z] "GET / HTTP/1.1" 200 - 0 5 4 3 "-"`, `x[1]: h:1 [02/Mar/2026:10:00:01.500] f b/s 1/0/3/6/10 200 5`, "http 2026-03-02T10:00:01.5Z a h:1 h:2 0.1 0.2 0.3 200 200 1 2",
		`[2026-03-02T10:00:01.500Z] "GET / HTTP/1.1" 503 UC 0 5 4 3 "-"`, `{"ts":1.5,"duration_ms":1,"error":{"a":1}}`,
		`h - - [02/Mar/2026:10:00:01 +0000] 4000 "GET / HTTP/1.1" 502`, `"1.5","1ms","FAILED"`, `{"ts":1.5,"http":{"response":{"status_code":502.0}},"err":[["<nil>"]]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const name = "calls.txt"
		got, err := Read(strings.NewReader(text), name)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name) || len(err.Error()) > 300 {
				t.Fatalf("%q", err)
			}
			return
		}
		if len(got.Calls) == 0 || len(got.Calls)+got.Skipped+got.Blank != got.Lines || got.Skipped > len(got.Calls) || (got.Bad > 0) != (got.Skipped > 0) || got.Calls[0].At != 0 {
			t.Fatalf("%+v", got)
		}
		unknown := 0
		for _, c := range got.Calls {
			if c.Took < 0 {
				unknown++
			}
		}
		if got.Failed+got.NoUnit > unknown || (got.Took >= 0) != (unknown < len(got.Calls)) {
			t.Fatalf("%d of unknown duration: %+v", unknown, got)
		}
		if !slices.IsSortedFunc(got.Calls, func(a, b clients.Call) int { return int(max(-1, min(1, a.At-b.At))) }) {
			t.Fatalf("not in order: %+v", got.Calls)
		}
	})
}
