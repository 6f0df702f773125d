package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/config"
	"perch.example/internal/kubefake"
	"perch.example/lab"
)

// sharded is a config of which, in 3 shards, the first holds search, the second
// payments, and the third nothing.
const sharded = `
version: 1
name: shop
vantage: test
targets:
  - {name: payments, url: "${URL}", probes: [{name: get, kind: http, path: /}]}
  - {name: search, url: "${URL}", probes: [{name: get, kind: http, path: /}]}
alerts: {fire_after: 1, settle: none}
metrics: {textfile: ${DIR}/perch.prom}
state: STATE
`

func inShard(env map[string]string, index, count int) map[string]string {
	out := maps.Clone(env)
	if out == nil {
		out = map[string]string{}
	}
	out[envShardIndex], out[envShardCount] = fmt.Sprint(index), fmt.Sprint(count)
	return out
}

// TestShardsOfAJob: each Pod of an Indexed Job probes its own targets, keeps a
// state of its own, and counts in series of its own; one without targets ends well.
func TestShardsOfAJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), strings.ReplaceAll(strings.Replace(sharded, "STATE", "{file: ${DIR}/state}", 1), "${DIR}", dir))
	for i, held := range []string{"search", "payments", ""} {
		for range 2 { // the second time with what the first one left
			r := perch(t.Context(), inShard(nil, i, 3), "run", "--all", "--seed", "7", "--config", path)
			if r.code != exitOK {
				t.Fatalf("shard %d: exit status %d\n%s", i, r.code, r.stderr)
			}
			want(t, "the log", r.stderr, fmt.Sprintf(`shard="shard %d of 3"`, i))
			for _, name := range []string{"search", "payments"} {
				if strings.Contains(r.stdout, name) != (name == held) {
					t.Errorf("shard %d, which holds %q, reports\n%s", i, held, r.stdout)
				}
			}
		}
		text := read(t, filepath.Join(dir, fmt.Sprintf("perch-%d.prom", i)))
		want(t, "the text file", text,
			fmt.Sprintf(`perch_runs_total{perch="shop",shard="%d",vantage="test",verdict="pass"} 2`, i),
			fmt.Sprintf(`perch_run_last_completed_timestamp_seconds{perch="shop",shard="%d",vantage="test"} `, i))
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("state-%d", i))); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"state", "perch.prom"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s, which is the whole config's, was written", name)
		}
	}
}

// TestWrongShards are refused before anything is read or sent.
func TestWrongShards(t *testing.T) {
	t.Parallel()
	path := configFile(t, "http://127.0.0.1:1", strings.Replace(sharded, "STATE", "{file: ${DIR}/state}", 1))
	for _, c := range []struct {
		index, count string
		says         []string
	}{
		{"0", "", []string{`JOB_COMPLETION_INDEX is "0" and JOB_COMPLETION_COUNT is not set`, "perch manifest"}},
		{"", "3", []string{"JOB_COMPLETION_INDEX is not set", "completionMode: Indexed"}},
		{"3", "3", []string{`JOB_COMPLETION_INDEX is "3": want 0 to 2`}},
		{"-1", "3", []string{`JOB_COMPLETION_INDEX is "-1": want 0 to 2`}},
		{"one", "3", []string{`want 0 to 2`}},
		{"0", "0", []string{`JOB_COMPLETION_COUNT is "0": want a whole number from 1 to 1000`}},
		{"0", "-2", []string{"from 1 to 1000"}},
		{"0", "1e3", []string{"from 1 to 1000"}},
		{"0", "1001", []string{"from 1 to 1000"}},
		{"0", "99999999999999999999", []string{"from 1 to 1000"}},
	} {
		env := map[string]string{envShardIndex: c.index, envShardCount: c.count}
		for _, command := range [][]string{{"run", "--config", path}, {"plan", path}} {
			r := perch(t.Context(), env, command...)
			if r.code != exitUsage {
				t.Errorf("%v %q: exit status %d, want 2", env, command, r.code)
			}
			want(t, fmt.Sprint(env), r.stderr, c.says...)
		}
	}
	if r := perch(t.Context(), map[string]string{envShardIndex: "", envShardCount: ""}, "plan", path); r.code != exitOK {
		t.Errorf("empty variables: exit status %d\n%s", r.code, r.stderr)
	}
}

// TestPlanOfAShard says which it is and where its state is.
func TestPlanOfAShard(t *testing.T) {
	t.Parallel()
	path := configFile(t, "http://127.0.0.1:1", strings.Replace(sharded, "STATE", "{file: ${DIR}/state}", 1))
	r := perch(t.Context(), inShard(nil, 1, 3), "plan", path)
	want(t, "the plan", r.stdout, "shop, shard 1 of 3 with 1 target: 1 step", "payments/get", "/state-1\n")
	if strings.Contains(r.stdout, "search") {
		t.Errorf("it has another shard's target:\n%s", r.stdout)
	}
	want(t, "an empty one", perch(t.Context(), inShard(nil, 2, 3), "plan", path).stdout, "shop, shard 2 of 3 with 0 targets: 0 steps")
	r = perch(t.Context(), inShard(nil, 0, 3), "run", "--only", "payments", "--config", path)
	if r.code != exitUsage {
		t.Errorf("--only another shard's: exit status %d", r.code)
	}
	want(t, "--only another shard's", r.stderr, "matches nothing in shard 0 of 3, known are: search/get")
}

// TestSilencesOfShards: from a laptop, --shards reaches each shard's state; what
// is muted is muted there, what is ended is ended everywhere.
func TestSilencesOfShards(t *testing.T) {
	t.Parallel()
	env := shardedCluster(t, 2)
	path := configFile(t, startLab(t, "status", lab.Options{}).URL(), strings.Replace(sharded, "STATE", "{configmap: perch-state}", 1))
	on := func(code int, env map[string]string, args ...string) ran {
		t.Helper()
		r := perch(t.Context(), env, append(args, "--config", path)...)
		if r.code != code {
			t.Fatalf("perch %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
		}
		return r
	}
	r := on(exitOK, env, "silence", "add", "payments", "--for=1h", "--reason=moving", "--shards=2")
	id, _, _ := strings.Cut(r.stdout, " ")
	want(t, "add", r.stdout, id+" mutes nothing from", "configmap shop/perch-state-0\n", id+" mutes payments/get from", "configmap shop/perch-state-1\n")
	want(t, "the shard", on(exitFindings, inShard(env, 1, 2), "run", "--all").stdout, "muted until", "(moving)")
	if list := on(exitOK, env, "silence", "list", "--shards=2").stdout; strings.Count(list, id) != 1 {
		t.Errorf("the list:\n%s", list)
	}
	// In a Pod of the Job the environment says how many there are.
	want(t, "expire", on(exitOK, inShard(env, 0, 2), "silence", "expire", id[:4]).stdout, "perch-state-0\n", "perch-state-1\n")
	if r := on(exitFindings, inShard(env, 1, 2), "run", "--all"); strings.Contains(r.stdout, "muted until") {
		t.Errorf("it is ended, and mutes:\n%s", r.stdout)
	}
	want(t, "no such id", on(exitUsage, env, "silence", "expire", "zz", "--shards=2").stderr, `no silence "zz"`)
	want(t, "one shard too many", on(exitOwn, env, "silence", "add", "search", "--for=1h", "--reason=x", "--shards=3").stderr, "perch-state-2")
	want(t, "nonsense", on(exitUsage, env, "silence", "list", "--shards=many").stderr, `--shards is "many": want a whole number`)
	want(t, "an index alone", on(exitUsage, map[string]string{envShardIndex: "1"}, "silence", "list").stderr, "--shards")
}

// shardedCluster is a cluster with a state for each shard of perch-state.
func shardedCluster(t *testing.T, count int) map[string]string {
	t.Helper()
	mux := http.NewServeMux()
	var last *kubefake.Server
	for i := range count {
		name := "perch-state" + "-" + config.Shard{Index: i, Count: count}.Name()
		last = kubefake.New("shop", name)
		mux.Handle("/api/v1/namespaces/shop/configmaps/"+name, last)
		mux.Handle("/apis/coordination.k8s.io/v1/namespaces/shop/leases/"+name, last)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeFile(t, path, string(last.Kubeconfig(server.URL)))
	return map[string]string{"KUBECONFIG": path}
}
