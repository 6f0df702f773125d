package expect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func compiled(b *testing.B, expressions ...string) *Set {
	b.Helper()
	set, err := Compile(expressions)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

func BenchmarkCheck(b *testing.B) {
	a := answer()
	for name, set := range map[string]*Set{
		"none":     {},
		"status":   compiled(b, `status == 200`),
		"contract": compiled(b, `status == 200`, `size(json.days) == 2`, `latency < duration("300ms")`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if failures := set.Check(a); len(failures) > 0 {
					b.Fatal(failures)
				}
			}
		})
	}
}

// BenchmarkWorst is what an expression can cost before it is stopped, on the
// largest body of the default max_body.
func BenchmarkWorst(b *testing.B) {
	text := bytes.Repeat([]byte("a"), 1<<20)
	list := []byte("[" + strings.Repeat("1,", 100_000) + "1]")
	rows := []byte("[" + strings.Repeat(`{"id":1,"name":"x"},`, 25_000) + "{}]")
	for _, worst := range []struct {
		name, expression string
		body             []byte
	}{
		{"contains", `body.contains("b")`, text},
		{"matches", `body.matches("(a|b|aa|ab)*c")`, text},
		{"parse", `json.size() == 0`, rows},
		{"loop", `json.all(x, x == 1)`, list},
		{"loops", `json.all(x, json.all(y, x == y))`, list},
		{"lists", `json.map(x, json.map(y, json)).size() == 1`, list},
		{"text", `[1,2,3,4,5,6,7,8].all(x, (body + body + body + body).size() > x)`, text},
		{"growth", `json.map(x, body + body).size() > 0`, []byte("[" + strings.Repeat("1,", 1000) + "1]")},
	} {
		set := compiled(b, worst.expression)
		b.Run(worst.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set.Check(Answer{Status: 200, Body: worst.body})
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			compiled(b, `status == 200`)
		}
	})
	b.Run("200 different", func(b *testing.B) {
		for b.Loop() {
			var c Compiler
			for i := range 200 {
				if _, err := c.Compile([]string{`status == 200`, fmt.Sprintf(`size(json.days) == %d`, i)}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// TestWorst bounds what BenchmarkWorst measures: generously, for a busy machine.
func TestWorst(t *testing.T) {
	body := []byte("[" + strings.Repeat("1,", 100_000) + "1]")
	for _, expression := range []string{`json.all(x, json.all(y, x == y))`, `json.map(x, json.map(y, json)).size() == 1`} {
		set, err := Compile([]string{expression})
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		got := set.Check(Answer{Status: 200, Body: body})
		if len(got) != 1 || got[0].About != AboutOther || !strings.Contains(got[0].Detail, "costs too much") {
			t.Errorf("%s: %+v", expression, got)
		}
		if took := time.Since(started); took > maxTime+5*time.Second {
			t.Errorf("%s: took %v", expression, took)
		}
	}
}
