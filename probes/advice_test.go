package probes

import (
	"slices"
	"testing"
)

func TestJoinAdvice(t *testing.T) {
	const mind = "Mind: it looks once a sweep. Use it beside the strategy."
	one := []string{
		"1. Set okhttp's idle limit (max_idle in perch's config) none -> 1.8 s: `new Pool(5. , 1800)`. The path closes after 2 s (measured); less 200 ms for round trip and ticks: 1.8 s.",
		"2. Also, add `ECONNRESET` to the list.", mind,
	}
	two := []string{
		"1. Set okhttp's idle limit (max_idle in perch's config) none -> 750 ms: `new Pool(5. , 750)`. The path closes after 0.998 s (measured, taken as 990 ms); less 200 ms for round trip and ticks, rounded down: 750 ms.",
		"2. Also, add `EPIPE` to the list.", mind,
	}
	for _, c := range []struct {
		name  string
		lists [][]string
		want  []string
	}{
		{"nothing", nil, nil},
		{"once more", [][]string{one, one}, one},
		{"measured otherwise; another error is another thing to do", [][]string{one, two}, append(slices.Clone(one), two[1])},
		{"a number that is missing", [][]string{{"1. Send less than 5/s.", "2. It is not the pool."}, {"It is not the pool."}}, []string{"1. Send less than 5/s.", "2. It is not the pool."}},
		{"another way to do it is not the thing itself", [][]string{{"1. Look at 5 s."}, {"1b. Or look at 5 s."}}, []string{"1. Look at 5 s.", "1b. Or look at 5 s."}},
		{"Go's durations", [][]string{{"Set `750*time.Millisecond`."}, {"Set `2*time.Second`."}}, []string{"Set `750*time.Millisecond`."}},
		{"two steps of one outcome stand", [][]string{{"Wait 5 s. Then call.", "Wait 9 s. Then leave."}}, []string{"Wait 5 s. Then call.", "Wait 9 s. Then leave."}},
	} {
		if got := JoinAdvice(c.lists...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}
