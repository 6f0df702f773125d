package expect

import "testing"

func TestEqual(t *testing.T) {
	compile := func(expressions ...string) *Set {
		s, err := Compile(expressions)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, two := compile("status == 200"), compile("status == 200", "latency < duration('1s')")
	for _, c := range []struct {
		a, b *Set
		want bool
	}{
		{one, compile("status == 200"), true}, {two, compile("status == 200", "latency < duration('1s')"), true},
		{one, two, false}, {one, compile("status == 201"), false}, {nil, &Set{}, true}, {nil, one, false}, {one, nil, false},
	} {
		if got := c.a.Equal(c.b); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
