package k8s

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"perch.example/config"
	"perch.example/plan"
)

// generated is a config of any shape that config.Parse may take, by a seed.
func generated(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nname: n%d\nvantage: v\ntargets:\n", r.IntN(100))
	for i := range 1 + r.IntN(5) {
		host := pick("a.example", "localhost", "192.0.2.7", "[2001:db8::7]", "[::ffff:192.0.2.9]", "svc", "a.b.svc", "xn--a-b", "a_b.example")
		port := pick("", "", ":1", ":65535", fmt.Sprintf(":%d", 1+r.IntN(65535)))
		file := pick("/etc/perch/secrets/k", "/etc/perch/secrets/..data/k", "/x/y", "rel", "/etc/perch/secrets/"+strings.Repeat("k", 254), "/etc/ssl/certs/ca-certificates.crt")
		fmt.Fprintf(&b, "  - name: t%d\n    url: %q\n    daily_limit: 100000000\n    rate_limit: 1000/s\n    tls: {ca_file: %q}\n", i, pick("http", "https")+"://"+host+port, file)
		fmt.Fprintf(&b, "    headers: [{name: X, from: {%s}}]\n", pick("env: TOKEN_"+pick("A", "b", "C_D"), "file: "+file))
		fmt.Fprintf(&b, "    probes:\n      - {name: get, kind: http, path: /, every: %s}\n", pick("always", "5m", "7m", "1m", "61s", "1h", "25h", "30s"))
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "      - {name: hold, kind: idle, path: /, every: %s, holds: [1s, %s]}\n", pick("always", "10m", "2h"), pick("2s", "5m", "1h"))
		}
	}
	b.WriteString(pick("", "slack: {webhook: {from: {env: SLACK_WEBHOOK_URL}}}\n", "slack: {bot_token: {from: {env: BOT}}, channel: C1}\n"))
	b.WriteString(pick("", "webhook: {from: {env: HOOK}}\n", "webhook: {url: \"http://h:1\"}\n"))
	b.WriteString(pick("state: {configmap: s.t-8}\n", "state: {file: /var/lib/perch/state}\n", "state: {file: state}\n", ""))
	b.WriteString(pick("", "metrics: {listen: \":1\"}\n", "metrics: {listen: \"[::]:9\"}\n", "metrics: {textfile: /a/b.prom}\n", "metrics: {max_series: 100000, push: {url: \"http://p:9091\", stateless: true}}\n"))
	return b.String()
}

// FuzzManifest: whatever the config, the names and the flags are, what is not
// refused decodes as strictly as an API server does it, has names that one takes,
// and its Pod is allowed under restricted.
func FuzzManifest(f *testing.F) {
	for i, kind := range []string{"cronjob", "deployment", "indexed-job", ""} {
		f.Add(uint64(i), kind, "perch", "shop", "15m", "perch.yaml", 2)
		f.Add(uint64(i+10), kind, strings.Repeat("p", 52), "", "", "conf/a.yml", 3)
	}
	f.Add(uint64(7), "cronjob", "p", "shop", "0 */2 * * mon", "", 0)
	f.Add(uint64(8), "cronjob", "-p", "a.b", "@daily", "\xff", 0)
	f.Fuzz(func(t *testing.T, seed uint64, kind, name, namespace, schedule, file string, shards int) {
		text := generated(rand.New(rand.NewPCG(seed, 1)))
		cfg, err := config.Parse(config.Options{}, config.File{Name: "perch.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatalf("the generated config: %v\n%s", err, text)
		}
		p, err := plan.New(cfg, plan.Options{Seed: 1})
		if err != nil {
			return // a ladder that is longer than its every
		}
		o := Options{
			Name: name, Namespace: namespace, Kind: Kind(kind), Schedule: schedule, Shards: min(shards, 20),
			Files: []config.File{{Name: file, Data: []byte(text)}},
		}
		if seed%3 == 0 {
			o.Path = shared()
		}
		m, err := New(cfg, p, o)
		if err != nil {
			if m != nil || err.Error() == "" {
				t.Fatalf("refused without a word: %v", m)
			}
			return
		}
		checked(t, written(t, m))
		for _, note := range m.Notes {
			if note == "" || strings.Contains(note, "%!") {
				t.Errorf("the note %q", note)
			}
		}
	})
}

// TestGeneratedManifests is the same for configs that are not refused too often.
func TestGeneratedManifests(t *testing.T) {
	right := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := generated(r)
		cfg, err := config.Parse(config.Options{}, config.File{Name: "perch.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		p, err := plan.New(cfg, plan.Options{Seed: 1})
		if err != nil {
			continue
		}
		o := Options{Files: []config.File{{Name: "perch.yaml", Data: []byte(text)}}}
		if o.Kind = []Kind{KindCronJob, KindDeployment, KindIndexedJob}[r.IntN(3)]; o.Kind == KindIndexedJob {
			o.Shards = min(2, len(cfg.Targets))
		}
		m, err := New(cfg, p, o)
		if err != nil {
			continue
		}
		right++
		checked(t, written(t, m))
	}
	if right < 30 {
		t.Errorf("only %d of 120 configs have a manifest: this test proves little", right)
	}
	t.Logf("%d of 120", right)
}
