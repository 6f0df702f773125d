package clients

import (
	"slices"
	"testing"
)

// TestKnownIsTheCatalog: every client, in its order, with all that people ask.
func TestKnownIsTheCatalog(t *testing.T) {
	var kinds []string
	for _, k := range Known() {
		kinds = append(kinds, k.Kind)
		if k.Name == "" || k.Versions == "" || k.Idle == "" || k.Looks == "" || k.Retries == "" {
			t.Errorf("%s: %+v", k.Kind, k)
		}
	}
	if !slices.Equal(kinds, Kinds()) {
		t.Errorf("known %q, want %q", kinds, Kinds())
	}
	first := Known()[0]
	if !slices.Contains(first.Wrappers, "spring-resttemplate") || first.Looks != "from 2 s of idleness on (a stale check: one read of 1 ms)" {
		t.Errorf("%+v", first)
	}
}

func TestWordsOfLimits(t *testing.T) {
	for _, tt := range []struct {
		client      Client
		idle, looks string
	}{
		{Client{Idle: IdleLimit{Limit: none()}, Looks: Validation{Limit: none(), How: "not before a GET; before others a read"}}, "none of its own", "not before a GET; before others a read"},
		{Client{Idle: IdleLimit{Limit: none(), Hint: true}, Looks: Validation{Limit: always(), How: "a read"}}, "none of its own; obeys Keep-Alive: timeout=N", "always (a read)"},
		{Client{Idle: IdleLimit{Limit: after(4e9), Hint: true, Margin: 2e9}, Looks: Validation{Limit: after(15e8), How: "a read"}}, "4 s; obeys Keep-Alive: timeout=N, less 2 s", "from 1.5 s of idleness on (a read)"},
		{Client{Idle: IdleLimit{Limit: after(9e10)}, Looks: Validation{Limit: none(), How: "never"}}, "90 s", "never"},
	} {
		if got := tt.client.idleWords(); got != tt.idle {
			t.Errorf("idle limit %q, want %q", got, tt.idle)
		}
		if got := tt.client.looksWords(); got != tt.looks {
			t.Errorf("looks %q, want %q", got, tt.looks)
		}
	}
}
