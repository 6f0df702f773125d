package plan

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files anew")
	m.Run()
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if updating() {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestText(t *testing.T) {
	nothingDue := func(probes.Spec) bool { return false }
	short := of(target("api", probes.Spec{Probe: "ladder", Kind: probes.KindIdle, Every: time.Minute, KeepAlive: 3 * time.Second}))
	short.Targets[0].DailyLimit = 40000
	short.Targets[0].Probes = append(short.Targets[0].Probes, short.Targets[0].Probes[0])
	short.Targets[0].Probes[1].Probe, short.Targets[0].Probes[1].Kind, short.Targets[0].Probes[1].Every = "ping", probes.KindHTTP, 5*time.Second

	ladder := of(laddered(10*time.Minute, limits(5*time.Minute, 2*time.Second)))
	seen := map[string]time.Duration{"api/a": time.Second, "stock-api/calendar-idle": 20 * time.Second}
	forgets := map[string]probes.Bracket{"api/a": {Survived: 30 * time.Second, Died: 59 * time.Second, How: probes.HowSilent}}
	found := map[string]probes.Bracket{"api/a": {Survived: 44800 * time.Millisecond, Died: 45200 * time.Millisecond, How: probes.HowSilent}}
	incident := shop()
	incident.Targets[0].Probes[1].Client = limits(25*time.Second, 30*time.Second)

	tests := []struct {
		file    string
		config  config.Config
		options Options
		series  int
	}{
		{"shop.txt", shop(), Options{Seed: 42}, 312},
		{"used.txt", shop(), Options{Seed: 42, DailyUsed: func(string) int { return 1200 }, Due: func(s probes.Spec) bool { return s.Probe != "calendar" }}, 0},
		{"nothing-due.txt", shop(), Options{Due: nothingDue}, 0},
		{"notes.txt", short, Options{Seed: 1}, 0},
		{"ladder.txt", ladder, Options{Seed: 1, Ends: seen}, 0},
		{"search.txt", ladder, Options{Seed: 1, Brackets: forgets}, 0},
		{"searched.txt", ladder, Options{Seed: 1, Brackets: found}, 0},
		{"unseen.txt", incident, Options{Seed: 1, Ends: seen}, 0},
	}
	for _, test := range tests {
		p, err := New(test.config, test.options)
		if err != nil {
			t.Errorf("%s: %v", test.file, err)
			continue
		}
		if p.Series = test.series; p.Series > 0 {
			p.Told, p.State = "to slack", "/var/lib/perch/state"
		}
		var got bytes.Buffer
		if err := p.Text(&got); err != nil {
			t.Fatal(err)
		}
		golden(t, test.file, got.Bytes())
	}
}

func TestHosts(t *testing.T) {
	other := shop()
	other.Targets = other.Targets[:1]
	other.Targets[0].Share, other.Targets[0].DailyLimit = 0.95, 2000
	other.Targets = append(other.Targets, target("stock-api", exchange("again", time.Hour)), target("alone", exchange("a", 0)))
	var plans []*Plan
	for _, c := range []config.Config{shop(), other} {
		p, err := New(c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	hosts := Hosts(plans)
	if len(hosts) != 3 || hosts[2].Configs != 2 || hosts[2].Targets != 3 || hosts[2].Daily != 2*(2*288+12*96)+24 {
		t.Errorf("hosts %+v, want 3, the last with 2 configs, 3 targets and their sums", hosts)
	}
	var got bytes.Buffer
	if err := HostsText(&got, hosts); err != nil {
		t.Fatal(err)
	}
	golden(t, "hosts.txt", got.Bytes())
	if len(Hosts(nil)) != 0 {
		t.Error("no plans have hosts")
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestAWritersErrorIsReported(t *testing.T) {
	p, err := New(shop(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Text(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("Text: %v, want %v", err, errBroken)
	}
	if err := HostsText(brokenWriter{}, Hosts([]*Plan{p})); !errors.Is(err, errBroken) {
		t.Errorf("HostsText: %v, want %v", err, errBroken)
	}
}

func TestShortAndNumber(t *testing.T) {
	durations := map[time.Duration]string{
		0: "0s", 2 * time.Minute: "2m", 10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Second: "1m30s", 20 * time.Second: "20s",
		time.Hour + 20*time.Minute: "1h20m", 1500 * time.Millisecond: "1.5s", 1234567: "1ms", 24 * time.Hour: "24h", time.Hour + time.Second: "1h0m1s",
	}
	for d, want := range durations {
		if got := short(d); got != want {
			t.Errorf("short(%d): %q, want %q", d, got, want)
		}
	}
	numbers := map[float64]string{0.25: "0.25", 20: "20", 6.666666: "6.667", 12346: "12350", 1e-7: "0.0000001", 0: "0"}
	for f, want := range numbers {
		if got := number(f); got != want {
			t.Errorf("number(%v): %q, want %q", f, got, want)
		}
	}
}
