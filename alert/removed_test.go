package alert

import (
	"strings"
	"testing"
)

func TestRemovedProbes(t *testing.T) {
	const both, idle, other, none = "shop/idle shop/other", "shop/idle", "shop/other", "else/x"
	tests := []struct {
		name, runs string
		known      []string // for each run; the last one stays
		want       string
	}{
		{"its only probe is gone: it closes", "FF--", []string{both, both, other}, ".FR."},
		{"also while another one runs", "FFoo", []string{both, both, other}, ".FR."},
		{"a pending one vanishes", "F-FF", []string{both, other, both}, "...F"},
		{"one of two is gone: the other decides", "PFoo", []string{both, both, other}, ".F.R"},
		{"what is gone contributes no more", "OFgg", []string{both, both, idle}, ".F.R"},
		{"both are gone", "PF-", []string{both, both, none}, ".FR"},
		{"not known which there are", "FF--", []string{""}, ".F.."},
		{"it comes back as another", "FF-FF", []string{both, both, other, both}, ".FR.F"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, told := decideAll(func(n int) Options {
				o := options(n)
				if known := tt.known[min(n, len(tt.known)-1)]; known != "" {
					o.Known = strings.Fields(known)
				}
				return o
			}, sequence(tt.runs)...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
		})
	}
}

// TestARemovedProbeIsSaid: that is no mending.
func TestARemovedProbeIsSaid(t *testing.T) {
	_, told := decideAll(func(n int) Options {
		o := options(n)
		o.Known = []string{"shop/idle"}
		if n > 1 {
			o.Known = []string{}
		}
		return o
	}, sequence("FF-")...)
	text := strings.Join(strings.Fields(Text(told[2][0])), " ")
	for _, want := range []string{"no longer in the config", "shop/idle", "Whether what failed works again is not known"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "perch run") {
		t.Errorf("a probe that is gone cannot be run:\n%s", text)
	}
}
