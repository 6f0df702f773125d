//go:build peers

package peers

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const pushConfig = `
version: 1
name: shop
vantage: peers
targets:
  - name: stock-api
    url: %s
    rate_limit: 50/s
    share: 100%%
    probes:
      - {name: hold, kind: idle, path: "", keep_alive: 2s, holds: [500ms, 3s]}
metrics: {push: {url: %q}}
state: {file: %q}
`

// TestPerchRunPushesToARealPushgateway: two runs, as a CronJob's, leave their
// series in the group of the contract, and the second goes on from the first.
func TestPerchRunPushesToARealPushgateway(t *testing.T) {
	t.Parallel()
	peer := Start(t, "nginx", idleTimeout, false)
	gateway := fmt.Sprintf("127.0.0.1:%d", freePort(t, nil, "127.0.0.1"))
	run(t, nil, "prometheus-pushgateway", exec.Command("prometheus-pushgateway", "--web.listen-address="+gateway, "--persistence.file="))
	awaitReady(t, "http://"+gateway+"/-/ready")
	dir := t.TempDir()
	config := write(t, filepath.Join(dir, "perch.yaml"), fmt.Sprintf(pushConfig, peer.URL, "http://"+gateway, filepath.Join(dir, "state")))
	for range 2 {
		runPerch(t, "", []int{0}, "run", "--config", config, "--all")
	}
	body := get(t, "http://"+gateway+"/metrics")
	for _, series := range []string{
		`perch_probe_success{instance="",job="perch",perch="shop",probe="hold",target="stock-api",vantage="peers"} 1`,
		`perch_holds_total{hold_seconds="0.5",instance="",job="perch",perch="shop",probe="hold",result="survived",target="stock-api",vantage="peers"} 2`,
		`perch_holds_total{hold_seconds="3",instance="",job="perch",perch="shop",probe="hold",result="closed",target="stock-api",vantage="peers"} 2`,
		`perch_attempts_total{connection="reused",instance="",job="perch",perch="shop",probe="hold",reason="idle_fin",target="stock-api",vantage="peers"} 2`,
		`perch_runs_total{instance="",job="perch",perch="shop",vantage="peers",verdict="pass"} 2`,
	} {
		if !strings.Contains(body, series+"\n") {
			t.Errorf("the gateway does not hold %s", series)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
}

func awaitReady(t *testing.T, url string) {
	t.Helper()
	end := time.Now().Add(readyWithin)
	for {
		resp, err := http.Get(url)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not ready: %v", url, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
