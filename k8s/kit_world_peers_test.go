//go:build peers

package k8s

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/internal/cluster"
	"perch.example/internal/freeport"
	"perch.example/internal/slackfake"
	"perch.example/lab"
)

// world is what the Pods meet on loopback: an API that ends idle connections
// too early, another that is well, Slack, and a Pushgateway.
type world struct {
	stock, price *lab.Server
	slack        *slackfake.Fake
	hook         string // the webhook's URL, a secret
	gateway      string
}

const (
	stockToken = "a-token-for-stock" // what the Secret holds
	slackPath  = "/services/T00000000/B00000000/secret"
)

// worldConfig is the perch.yaml of a namespace, which is its vantage too: two
// would push to one group otherwise.
const worldConfig = `
version: 1
name: shop
vantage: %s
defaults: {every: always, rate_limit: 50/s, share: 100%%}
targets:
  - name: stock
    url: %s
    owner: team-stock
    headers:
      - {name: Authorization, prefix: "Bearer ", from: {file: /etc/perch/secrets/stock-token}}
    client: {kind: apache-httpclient-4.5, wrapped_by: spring-resttemplate, validate_after: never, automatic_retries: none}
    probes:
      - {name: calendar, kind: http, path: "/calendar?days=2", expect: [status == 200, size(json.days) == 2]}
      - {name: calendar-idle, kind: idle, path: "/calendar?days=2", keep_alive: 5s, holds: [300ms, 2500ms]}
  - name: price
    url: %s
    probes:
      - {name: calendar, kind: http, path: "/calendar?days=2", expect: [status == 200]}
alerts: {mode: notify, fire_after: 1}
slack: {webhook: {from: {env: SLACK_WEBHOOK_URL}}}
metrics: {push: {url: %q}}
state: %s
`

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{stock: startLab(t, "incident"), price: startLab(t, "healthy")}
	w.slack = slackfake.New(slackfake.Config{
		Channels: []slackfake.Channel{{ID: "C00000001", Name: "stock"}},
		Hooks:    []slackfake.Hook{{Path: slackPath, Channel: "C00000001"}},
	})
	server := httptest.NewServer(w.slack)
	t.Cleanup(server.Close)
	w.hook = server.URL + slackPath
	gateway := fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(t))
	w.gateway = "http://" + gateway
	cluster.Run(t, "prometheus-pushgateway", "--web.listen-address="+gateway, "--persistence.file=")
	cluster.Await(t, time.Minute, "the Pushgateway", func() error {
		_, err := fetch(w.gateway + "/-/ready")
		return err
	})
	return w
}

// serveSidecar is Istio's, as far as perch asks: it is ready. Other Pods on this
// node see it, too, and say so of their path.
func serveSidecar(t *testing.T) {
	t.Helper()
	cluster.MeshPorts(t, true)
	listener, err := net.Listen("tcp", "127.0.0.1:15021")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz/ready" {
			w.WriteHeader(http.StatusNotFound)
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

func startLab(t *testing.T, scenario string) *lab.Server {
	t.Helper()
	server, err := lab.Start(context.Background(), scenario, lab.Options{IdleTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// inConfigMap is where most have their state.
const inConfigMap = "{configmap: perch-state}"

// configDir is a folder with the perch.yaml of a namespace.
func (w *world) configDir(t *testing.T, namespace, state string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(worldConfig, namespace, w.stock.URL(), w.price.URL(), w.gateway, state)
	if err := os.WriteFile(filepath.Join(dir, "perch.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pushed sums up, by the values of one label, the Pushgateway's series of a
// name that a namespace's perch has pushed.
func (w *world) pushed(t *testing.T, namespace, name, label string) map[string]int {
	t.Helper()
	body, err := fetch(w.gateway + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	of := regexp.MustCompile(`[{,]` + label + `="([^"]*)"`)
	sums := map[string]int{}
	for line := range strings.Lines(body) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(series, name+"{") || !strings.Contains(series, `,vantage="`+namespace+`"`) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		by := ""
		if m := of.FindStringSubmatch(series); m != nil {
			by = m[1]
		}
		sums[by] += int(n)
	}
	return sums
}

// requests are those that a lab has received from a namespace's perch.
func requests(server *lab.Server, namespace string) []lab.Request {
	return slices.DeleteFunc(server.Requests(), func(r lab.Request) bool {
		return r.Header.Get("User-Agent") != "perch/"+testVersion+" ("+namespace+")"
	})
}

// told are the messages that Slack has which name the namespace as their vantage.
func (w *world) told(namespace string) []slackfake.Message {
	var all []slackfake.Message
	for _, m := range w.slack.Messages() {
		if strings.Contains(m.Text+string(m.Blocks), namespace) {
			all = append(all, m)
		}
	}
	return all
}
