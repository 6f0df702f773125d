package report

import (
	"slices"
	"testing"
	"time"
)

func TestDurationsForPeople(t *testing.T) {
	for _, tt := range []struct {
		d            time.Duration
		latency, age string
	}{
		{0, "0 ms", "0 ms"},
		{us, "< 0.01 ms", "< 0.01 ms"},
		{10 * us, "0.01 ms", "0.01 ms"},
		{40 * us, "0.04 ms", "0.04 ms"},
		{400 * us, "0.4 ms", "0.4 ms"},
		{8340 * us, "8.3 ms", "8.3 ms"},
		{20 * ms, "20 ms", "20 ms"},
		{134400 * us, "134 ms", "0.134 s"},
		{500 * ms, "500 ms", "0.5 s"},
		{999700 * us, "1 s", "1 s"},
		{time.Second, "1 s", "1 s"},
		{1001 * ms, "1.001 s", "1.001 s"},
		{1000400 * us, "1 s", "1 s"},
		{59 * time.Second, "59 s", "59 s"},
		{60 * time.Second, "60 s", "60 s"},
		{60003 * ms, "60.003 s", "60.003 s"},
		{61 * time.Second, "61 s", "61 s"},
		{2 * time.Minute, "2 min", "2 min"},
		{350001 * ms, "350.001 s", "350.001 s"},
		{time.Hour, "1 h", "1 h"},
		{90 * time.Minute, "90 min", "90 min"},
		{99999 * us, "100 ms", "100 ms"},
	} {
		if got := latency(tt.d); got != tt.latency {
			t.Errorf("latency(%v) = %q, want %q", tt.d, got, tt.latency)
		}
		if got := age(tt.d); got != tt.age {
			t.Errorf("age(%v) = %q, want %q", tt.d, got, tt.age)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		n          int
		want       []string
	}{
		{"empty", "", 10, []string{""}},
		{"fits", "one two", 7, []string{"one two"}},
		{"breaks at words", "one two three", 8, []string{"one two", "three"}},
		{"a long word stays whole", "see https://example.com/a/b now", 10, []string{"see", "https://example.com/a/b", "now"}},
		{"a number keeps its unit", "closed after 1.001 s, then", 14, []string{"closed after", "1.001 s, then"}},
		{"wide characters take two cells", "在庫 在庫 在庫", 9, []string{"在庫 在庫", "在庫"}},
		{"line breaks of others are blanks", "a\r\nb\tc", 20, []string{"a b c"}},
	} {
		if got := wrap(tt.text, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain 日本 é":   "plain 日本 é",
		"\x1b[31m":     `\x1b[31m`,
		"\u009b2J":     `\x9b2J`,
		"\x9b2J":       `\x9b2J`,
		"a\x00b\x7f":   `a\x00b\x7f`,
		"\u202eabc":    `\u202eabc`,
		"\U000e0041":   `\U000e0041`,
		"two\nlines\t": "two lines ",
		"\u2028":       " ",
	} {
		got := clean(in)
		if got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
		if again := clean(got); again != got {
			t.Errorf("clean(%q) is not stable: %q", in, again)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"在庫在庫", 5, "在庫…"}, {"x", 0, ""}, {"", 0, ""}, {"ab", 1, "…"}, {"a", -3, ""},
	} {
		if got := cut(tt.text, tt.n); got != tt.want || width(got) > max(tt.n, 0) {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
