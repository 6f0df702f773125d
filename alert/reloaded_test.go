package alert

import (
	"strings"
	"testing"
)

// reloaded is the one notice of a config that changed.
func reloaded(t testing.TB, mistakes ...string) Notice {
	t.Helper()
	m, due := Reloaded(Memory{}, mistakes, incident(), options(0))
	if len(due) != 1 || len(m.Outbox) != 1 {
		t.Fatalf("%d notices, %d wait", len(due), len(m.Outbox))
	}
	return due[0]
}

// A config's mistakes stand behind what waits, and go to every destination but those
// that know alerts alone.
func TestReloadedWaitsInOrder(t *testing.T) {
	m, _ := decideAll(options, incident(), incident())
	before := len(m.Outbox)
	next, due := Reloaded(m, []string{"a", "b"}, incident(), options(2))
	if len(m.Outbox) != before || len(next.Outbox) != before+1 || due[len(due)-1].Kind != KindConfig {
		t.Errorf("%d wait, %d before; the last to tell is %q", len(next.Outbox), before, due[len(due)-1].Kind)
	}
	if (&Alertmanager{}).Wants(KindConfig) || !(&SlackBot{}).Wants(KindConfig) {
		t.Error("who wants it")
	}
}

// In mode report it is shown, and kept nowhere.
func TestReloadedIsShown(t *testing.T) {
	o := options(0)
	o.Mode = ModeReport
	m, shown := Reloaded(Memory{}, []string{"perch.yaml:3: no such key"}, incident(), o)
	if len(m.Outbox) != 0 || len(shown) != 1 || !strings.Contains(Text(shown[0]), "perch.yaml:3: no such key") {
		t.Errorf("%d wait, %v", len(m.Outbox), shown)
	}
}

// However much is wrong, the notice is bounded.
func TestReloadedIsBounded(t *testing.T) {
	mistakes := make([]string, 5000)
	for i := range mistakes {
		mistakes[i] = strings.Repeat("a long mistake ", 100)
	}
	if n := len(Text(reloaded(t, mistakes...))); n > 10_000 {
		t.Errorf("%d bytes", n)
	}
}
