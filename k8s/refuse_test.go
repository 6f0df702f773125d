package k8s

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
)

// small is a config of one target with a state.
const small = `
version: 1
name: shop
vantage: prod
targets:
  - {name: a, url: "https://a.example", probes: [{name: get, kind: http, path: /}]}
  - {name: b, url: "https://b.example", probes: [{name: get, kind: http, path: /}]}
state: {configmap: perch-state}
`

func TestRefused(t *testing.T) {
	for says, c := range map[string]struct {
		text string // empty: small
		o    Options
	}{
		`--kind "job": want cronjob, deployment or indexed-job`:                     {o: Options{Kind: "job"}},
		`--shards 3: only --kind indexed-job is split into shards, this is cronjob`: {o: Options{Shards: 3}},
		`how many shards? want --shards N, from 2 to the 2 targets`:                 {o: Options{Kind: KindIndexedJob}},
		`--shards 3: a target is in one shard, whole, and there are 2; want 2`:      {o: Options{Kind: KindIndexedJob, Shards: 3}},
		`--shards 1: a target`:  {o: Options{Kind: KindIndexedJob, Shards: 1}},
		`--shards -2: a target`: {o: Options{Kind: KindIndexedJob, Shards: -2}},
		`--kind indexed-job: a target is in one shard, whole, and there is one target; want --kind cronjob`: {
			text: calls("https://a.example", ""), o: Options{Kind: KindIndexedJob, Shards: 2},
		},
		"state.configmap perch-state: that is the state of a perch called perch, and these objects are called perch-eu: want state: {configmap: perch-eu-state}, or --name perch": {o: Options{Name: "perch-eu"}},
		`--api-server "api": want an address or a block`:                        {o: Options{APIServer: []string{"api"}}},
		`--api-server "::ffff:10.0.0.0/104": want`:                              {o: Options{APIServer: []string{"10.0.0.1", "::ffff:10.0.0.0/104"}}},
		`--monitor-label: only a deployment`:                                    {o: Options{MonitorLabels: map[string]string{"a": "b"}}},
		`--monitor-label: only a deployment has`:                                {o: Options{Kind: KindDeployment, NoPodMonitor: true, MonitorLabels: map[string]string{"a": "b"}}},
		`--monitor-label a=b c:`:                                                {o: Options{Kind: KindDeployment, MonitorLabels: map[string]string{"a": "b c"}}},
		`--monitor-label app.kubernetes.io/name: perch's`:                       {o: Options{Kind: KindDeployment, MonitorLabels: map[string]string{"app.kubernetes.io/name": "x"}}},
		`--schedule "5m": a deployment has none`:                                {o: Options{Kind: KindDeployment, Schedule: "5m"}},
		`--name "Perch"`:                                                        {o: Options{Name: "Perch"}},
		`--name "a.b"`:                                                          {o: Options{Name: "a.b"}},
		`53 signs, want at most 52`:                                             {o: Options{Name: strings.Repeat("n", 53)}},
		`51 signs, want at most 50`:                                             {o: Options{Name: strings.Repeat("n", 51), Kind: KindIndexedJob, Shards: 2}},
		`--namespace "shop/prod"`:                                               {o: Options{Namespace: "shop/prod"}},
		`--image "https://r.example/p:1"`:                                       {o: Options{Image: "https://r.example/p:1"}},
		`--image "r.example/P:1"`:                                               {o: Options{Image: "r.example/P:1"}},
		`--image "p:1:2"`:                                                       {o: Options{Image: "p:1:2"}},
		`--image "p@sha256:abc"`:                                                {o: Options{Image: "p@sha256:abc"}},
		`--image "a b"`:                                                         {o: Options{Image: "a b"}},
		`the policy's ConfigMap "A"`:                                            {o: Options{Policy: "A"}},
		`--namespace a: Deployment b/app is in the namespace b`:                 {o: Options{Namespace: "a", Path: &Path{Workload: "Deployment b/app", Namespace: "b"}}},
		`state.configmap perch-state: the config's own ConfigMap has this name`: {o: Options{Name: "perch-state"}},
		`a shard's name is 254 signs long`: {
			text: strings.Replace(small, "perch-state", strings.Repeat("s", 252), 1), o: Options{Kind: KindIndexedJob, Shards: 2},
		},
		"--name perch-policy: the config's ConfigMap would take the place":       {text: strings.Replace(small, "perch-state", "perch-policy-state", 1), o: Options{Name: "perch-policy"}},
		"state.configmap perch-policy: the platform's policy":                    {text: strings.Replace(small, "perch-state", "perch-policy", 1)},
		"state.configmap rules: the platform's policy":                           {text: strings.Replace(small, "perch-state", "rules", 1), o: Options{Policy: "rules"}},
		"state.file state: the Pod would look for it in /":                       {text: strings.Replace(small, "configmap: perch-state", "file: state", 1)},
		"state.file /state: a volume at / would hide":                            {text: strings.Replace(small, "configmap: perch-state", "file: /state", 1)},
		"state.file /etc/perch/config/state: a volume":                           {text: strings.Replace(small, "configmap: perch-state", "file: /etc/perch/config/state", 1)},
		"state.file /etc/state: a volume at /etc":                                {text: strings.Replace(small, "configmap: perch-state", "file: /etc/state", 1)},
		"state.file /etc/ssl/certs/state: a volume at /etc/ssl/certs would hide": {text: strings.Replace(small, "configmap: perch-state", "file: /etc/ssl/certs/state", 1)},
		"state.file /etc/ssl/state: a volume":                                    {text: strings.Replace(small, "configmap: perch-state", "file: /etc/ssl/state", 1)},
		"state.file /var/run/secrets/s/state: a volume":                          {text: strings.Replace(small, "configmap: perch-state", "file: /var/run/secrets/s/state", 1)},
		"state.file /proc/state: a volume":                                       {text: strings.Replace(small, "configmap: perch-state", "file: /proc/state", 1)},
		"the variables a_b and A_B would both be the key a-b": {
			text: small + "webhook: {from: {env: A_B}}\nslack: {webhook: {from: {env: a_b}}}\n",
		},
		"from: {env: GOMEMLIMIT}: perch's Pod has this variable": {text: small + "webhook: {from: {env: GOMEMLIMIT}}\n"},
		"a key of a Secret has 253 signs at most":                {text: small + "webhook: {from: {env: " + strings.Repeat("X", 254) + "}}\n"},
		"the shortest every is 30s":                              {text: strings.Replace(small, "path: /}", "path: /, every: 30s}", 1)},
		"b: 1440 runs a day send up to 4320 requests, daily_limit is 4000: --schedule 2m would fit": {
			text: strings.Replace(strings.Replace(small, `"https://b.example"`, `"https://b.example", daily_limit: 4000, follow_redirects: 2, every: always`, 1), "path: /}", "path: /, every: 1m}", 1),
		},
		"a: 48 runs a day send up to 96 requests, daily_limit is 50: want a state": {
			text: "version: 1\ntargets: [{name: a, url: \"https://a.example\", daily_limit: 50, probes: [{name: get, kind: http, path: /, every: 24h}, {name: often, kind: http, path: /, every: 12h}]}]\n",
			o:    Options{Schedule: "30m"},
		},
		"the config names no vantage, which perch serve needs": {
			text: "version: 1\nname: shop\ntargets: [{name: a, url: \"https://a.example\", probes: [{name: get, kind: http, path: /}]}]\n", o: Options{Kind: KindDeployment},
		},
		"the config has no name, which perch serve needs": {
			text: "version: 1\nvantage: v\ntargets: [{name: a, url: \"https://a.example\", probes: [{name: get, kind: http, path: /}]}]\n", o: Options{Kind: KindDeployment},
		},
		`metrics.listen "127.0.0.1:9877": the kubelet`: {text: small + "metrics: {listen: \"127.0.0.1:9877\"}\n", o: Options{Kind: KindDeployment}},
		`metrics.listen "some.host:99": the kubelet`:   {text: small + "metrics: {listen: \"some.host:99\"}\n", o: Options{Kind: KindDeployment}},
		`metrics.listen ":0": the Pod's port`:          {text: small + "metrics: {listen: \":0\"}\n", o: Options{Kind: KindDeployment}},
	} {
		text := c.text
		if text == "" {
			text = small
		}
		cfg, p, files := parsed(t, text, "")
		c.o.Files = files
		m, err := New(cfg, p, c.o)
		if err == nil || strings.Count(err.Error(), says) != 1 {
			t.Errorf("%v, want %q, once", err, says)
		}
		if m != nil {
			t.Errorf("%q: a manifest all the same", says)
		}
	}
}

// TestAllThatIsWrongIsSaid, in one answer.
func TestAllThatIsWrongIsSaid(t *testing.T) {
	cfg, p, _ := parsed(t, small, "")
	_, err := New(cfg, p, Options{Name: "A", Namespace: "B", Image: " ", Shards: 2})
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("%v: want five mistakes", err)
	}
}

// TestAnyNumberOfShardsIsRefusedAtOnce: no name is made of what is refused.
func TestAnyNumberOfShardsIsRefusedAtOnce(t *testing.T) {
	cfg, p, _ := parsed(t, small, "")
	for _, shards := range []int{1_000_000_000, math.MaxInt, math.MinInt} {
		_, err := New(cfg, p, Options{Kind: KindIndexedJob, Shards: shards})
		if want := fmt.Sprintf("--shards %d: a target is in one shard", shards); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestManyShardsAreNamedAtOnce: what they are called does not ask which targets
// they have, which is dear to know of many.
func TestManyShardsAreNamedAtOnce(t *testing.T) {
	b := &maker{o: Options{Kind: KindIndexedJob, Shards: config.MaxShards}}
	b.cfg.State.ConfigMap = "s"
	b.cfg.Targets = make([]probes.Target, 1000)
	for i := range b.cfg.Targets {
		b.cfg.Targets[i].Name = strconv.Itoa(i)
	}
	if names := b.stateObjects(); len(names) != config.MaxShards || names[0] != "s-0" || names[999] != "s-999" {
		t.Errorf("%d names, from %s to %s", len(names), names[0], names[len(names)-1])
	}
}

// TestAVantageThatOnlyThePodWouldKnow: a config that leaves it to the environment
// needs it here, too.
func TestAVantageThatOnlyThePodWouldKnow(t *testing.T) {
	text := strings.Replace(small, "vantage: prod\n", "", 1)
	cfg, p, _ := parsed(t, text, "anywhere")
	cfg.Vantage = "" // as a command sees it that may run anywhere
	if _, err := New(cfg, p, Options{}); err == nil || !strings.Contains(err.Error(), "the config names no vantage, which state needs: write vantage: at its top, or run PERCH_VANTAGE=...") {
		t.Errorf("%v", err)
	}
	m := made(t, text, Options{Vantage: "tokyo"})
	if text := written(t, m); !strings.Contains(text, "- name: PERCH_VANTAGE\n              value: tokyo\n") {
		t.Errorf("PERCH_VANTAGE is not in the Pod:\n%s", text)
	}
}

func TestTheConfigsFiles(t *testing.T) {
	cfg, p, _ := parsed(t, small, "")
	big := strings.Repeat("# a comment\n", 90_000)
	for says, files := range map[string][]config.File{
		"cannot be a key of a ConfigMap":                              {{Name: "conf/a b.yaml"}},
		"another file is called so, too":                              {{Name: "a/x.yaml"}, {Name: "b/x.yaml"}},
		"the config has 1080000 bytes, and a ConfigMap holds 1048576": {{Name: "x.yaml", Data: []byte(big)}},
	} {
		if _, err := New(cfg, p, Options{Files: files}); err == nil || strings.Count(err.Error(), says) != 1 {
			t.Errorf("%v, want %q, once", err, says)
		}
	}
	for _, c := range []struct{ name, key string }{{"conf/shop.yaml", "shop.yaml"}, {"shop.json", "perch.yaml"}, {"/dev/fd/3", "perch.yaml"}, {"x.yml", "x.yml"}} {
		m, err := New(cfg, p, Options{Files: []config.File{{Name: c.name, Data: []byte("\xff\xfea\x00")}}})
		if err != nil {
			t.Fatal(err)
		}
		text := written(t, m)
		checked(t, text)
		if !strings.Contains(text, "binaryData:\n  "+c.key+": //5hAA==\n") {
			t.Errorf("%s: no key %s of those bytes in\n%s", c.name, c.key, text)
		}
	}
}

// TestALargeConfigIsAppliedByTheServer: kubectl keeps what it applied in an
// annotation, which has a limit of its own.
func TestALargeConfigIsAppliedByTheServer(t *testing.T) {
	cfg, p, _ := parsed(t, small, "")
	for size, want := range map[int]bool{200 << 10: false, 300 << 10: true} {
		m, err := New(cfg, p, Options{Files: []config.File{{Name: "x.yaml", Data: []byte(strings.Repeat("x", size))}}})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(m.Notes, "\n"), "kubectl apply --server-side"); said != want {
			t.Errorf("%d bytes: said %t, want %t", size, said, want)
		}
	}
}

// TestTheHashFollowsTheContent: a Deployment starts anew when the config changes,
// and only then.
func TestTheHashFollowsTheContent(t *testing.T) {
	cfg, p, _ := parsed(t, small, "")
	hash := func(files ...config.File) string {
		b := &maker{cfg: cfg, plan: p, o: Options{Files: files}}
		b.readFiles()
		return b.contentHash()
	}
	a, b := config.File{Name: "a.yaml", Data: []byte("1")}, config.File{Name: "b.yaml", Data: []byte("2")}
	if hash(a, b) != hash(b, a) {
		t.Error("the files' order changes it")
	}
	seen := map[string]bool{}
	for _, files := range [][]config.File{{a, b}, {a}, {b}, {{Name: "a.yaml", Data: []byte("2")}, {Name: "b.yaml", Data: []byte("1")}}, {{Name: "a.yaml", Data: []byte("12")}, {Name: "b.yaml"}}} {
		seen[hash(files...)] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d hashes of 5 contents", len(seen))
	}
}

// TestAPlanOfAWholeConfigInShards: what is one shard's fits where the whole did.
func TestAPlanOfAWholeConfigInShards(t *testing.T) {
	cfg, whole, _ := parsed(t, small, "")
	for i := range 2 {
		part, err := plan.New(cfg.InShard(config.Shard{Index: i, Count: 2}), plan.Options{Seed: 1})
		if err != nil || part.LongestWall > whole.LongestWall {
			t.Errorf("shard %d takes %v, the whole %s (%v)", i, part, whole.LongestWall, err)
		}
	}
}
