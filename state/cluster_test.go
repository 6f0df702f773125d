package state

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/internal/kubefake"
)

// environment is a process's, for Cluster.
func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	}
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// From a laptop, over a real connection.
func TestClusterByKubeconfig(t *testing.T) {
	fake := kubefake.New("shop", "perch-state")
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	home := t.TempDir()
	usual := write(t, filepath.Join(home, ".kube", "config"), string(fake.Kubeconfig(server.URL)))
	for name, env := range map[string]map[string]string{
		"at home":                         {"HOME": home},
		"KUBECONFIG":                      {"KUBECONFIG": usual, "HOME": t.TempDir()},
		"KUBECONFIG of several":           {"KUBECONFIG": filepath.Join(home, "none") + string(os.PathListSeparator) + usual},
		"KUBECONFIG comes before a Pod's": {"KUBECONFIG": usual, "KUBERNETES_SERVICE_HOST": "192.0.2.1"},
	} {
		c, err := Cluster("perch-state", environment(env))
		if err != nil || c.Namespace != "shop" || c.Identity == "" {
			t.Errorf("%s: %+v, %v", name, c, err)
			continue
		}
		if err := aRun(t.Context(), site{open: opener(c)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// In a Pod: its service account's token, namespace and CA.
func TestClusterByServiceAccount(t *testing.T) {
	fake := kubefake.New("shop", "perch-state")
	const token = "made-up"
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	write(t, filepath.Join(folder, "token"), token)
	write(t, filepath.Join(folder, "namespace"), "shop\n")
	write(t, filepath.Join(folder, "ca.crt"), string(ca))
	at, err := url.Parse(server.URL)
	must(t, err)
	env := environment(map[string]string{"KUBERNETES_SERVICE_HOST": at.Hostname(), "KUBERNETES_SERVICE_PORT": at.Port()})
	c, err := byServiceAccount(ConfigMapConfig{Name: "perch-state", Identity: "pod-a"}, env, folder)
	must(t, err)
	must(t, aRun(t.Context(), site{open: opener(c)}))

	must(t, os.Remove(filepath.Join(folder, "token")))
	if _, err := byServiceAccount(ConfigMapConfig{Name: "perch-state"}, env, folder); err == nil || !strings.Contains(err.Error(), "automountServiceAccountToken: true") {
		t.Errorf("without a token: %v, want what to set", err)
	}
}

func TestNoCluster(t *testing.T) {
	folder := t.TempDir()
	for name, tt := range map[string]struct {
		env  map[string]string
		want string
	}{
		"nothing at all":     {nil, "neither KUBECONFIG nor HOME"},
		"no file":            {map[string]string{"HOME": folder}, filepath.Join(folder, ".kube", "config")},
		"not a file of that": {map[string]string{"KUBECONFIG": write(t, filepath.Join(folder, "x"), "\t")}, "reading the kubeconfig"},
		"no context":         {map[string]string{"KUBECONFIG": write(t, filepath.Join(folder, "y"), "kind: Config")}, "names no cluster"},
	} {
		if _, err := Cluster("perch-state", environment(tt.env)); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "configmap perch-state") || strings.Contains(err.Error(), "KUBERNETES_MASTER") {
			t.Errorf("%s: %v, want %q, and no advice that does not help", name, err, tt.want)
		}
	}
}

func TestConfigMapConfigIsChecked(t *testing.T) {
	whole := fakeConfig(kubefake.New("shop", "perch-state"), "pod-a")
	for want, c := range map[string]ConfigMapConfig{
		"both are needed":        {Name: "perch-state", Rest: whole.Rest},
		"no API server is given": {Name: "perch-state", Namespace: "shop"},
	} {
		if _, err := OpenConfigMap(t.Context(), c, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("opening: %v, want %q", err, want)
		}
		if err := EditConfigMap(t.Context(), c, Options{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("editing: %v, want %q", err, want)
		}
		if _, err := ReadConfigMap(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reading: %v, want %q", err, want)
		}
	}
}

// aProxy is one of the environment that leads nowhere; the package's test process
// has it from its start, for net/http reads the environment once.
const aProxy = "http://127.0.0.1:1"

// A Pod whose application leaves through a proxy has its variables, and NO_PROXY
// seldom names the API server.
func TestNoProxyToAPodsAPIServer(t *testing.T) {
	fake := kubefake.New("shop", "perch-state")
	server := httptest.NewTLSServer(fake)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	write(t, filepath.Join(folder, "token"), "made-up")
	write(t, filepath.Join(folder, "namespace"), "shop\n")
	write(t, filepath.Join(folder, "ca.crt"), string(ca))
	c, err := byServiceAccount(ConfigMapConfig{Name: "perch-state", Identity: "pod-a"}, environment(map[string]string{"KUBERNETES_SERVICE_HOST": "192.0.2.1"}), folder)
	must(t, err)
	if by, err := http.ProxyFromEnvironment(httptest.NewRequest(http.MethodGet, c.Rest.Host, nil)); err != nil || by == nil || by.String() != aProxy {
		t.Fatalf("the environment's proxy is %v, %v: this test would prove nothing", by, err)
	}
	c.Rest.ServerName = "example.com"
	c.Rest.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "192.0.2.1:443" {
			t.Errorf("connects to %s, want the API server itself", address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	must(t, aRun(t.Context(), site{open: opener(c)}))
}

// Without an answer the hint is about what is on the way from here.
func TestNoAnswerIsExplained(t *testing.T) {
	for want, c := range map[string]ConfigMapConfig{"a NetworkPolicy": {inPod: true}, "HTTPS_PROXY, NO_PROXY": {}} {
		if err := c.explain("opening", resourceLeases, io.ErrUnexpectedEOF); !strings.Contains(err.Error(), want) {
			t.Errorf("in a Pod %t: %v, want %q", c.inPod, err, want)
		}
	}
}
