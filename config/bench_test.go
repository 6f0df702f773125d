package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// BenchmarkParse is the config's part of a run's start.
func BenchmarkParse(b *testing.B) {
	contract, err := os.ReadFile("testdata/good/contract.yaml")
	if err != nil {
		b.Fatal(err)
	}
	var large strings.Builder
	large.WriteString("version: 1\ndefaults: {timeouts: {response: 3s}, headers: [{name: Accept, value: text/plain}], expect: [status == 200]}\ntargets:\n")
	for i := range 200 {
		fmt.Fprintf(&large, "  - name: t%d\n    url: https://t%d.example\n    probes:\n      - {name: p, kind: http, path: /p, expect: [status == 200, size(json.days) == 2]}\n      - {name: i, kind: idle, keep_alive: 60s, holds: [30s, 59s, 61s]}\n", i, i)
	}
	for name, data := range map[string]string{"smallest": smallest, "contract": string(contract), "200 targets": large.String()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(Options{}, File{"b.yaml", []byte(data)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
