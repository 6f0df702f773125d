//go:build peers

package cluster

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/internal/freeport"
)

// Cluster is a control plane that runs until the test ends.
type Cluster struct {
	Host   string // the API server's address, without the port: 127.0.0.1
	Port   int
	CAFile string // PEM, what signs the API server's certificate
	Config string // the administrator's kubeconfig, a file

	t       testing.TB
	dir     string
	kubectl string
	client  *http.Client
	admin   string // the administrator's token
}

// readyWithin is how long a program may take to start on a busy machine.
const readyWithin = 2 * time.Minute

// Start runs the three programs and returns once the API server is ready and
// the controllers run. It takes some 5 s.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{Host: "127.0.0.1", Port: freeport.Loopback(t), t: t, dir: t.TempDir(), kubectl: Program(t, "kubectl"), admin: rand.Text()}
	c.CAFile = c.file("ca.crt")
	newAuthority(t, c.CAFile).server(t, c.file("server.crt"), c.file("server.key"))
	writeKey(t, newKey(t), c.file("accounts.key"))
	controllers := rand.Text()
	writeFile(t, c.file("tokens.csv"), fmt.Appendf(nil, "%s,admin,1,system:masters\n%s,system:kube-controller-manager,2\n", c.admin, controllers))
	c.Config, c.client = c.Kubeconfig(c.admin, "default"), c.newClient()

	etcd := c.startEtcd()
	server := Run(t, "kube-apiserver",
		"--etcd-servers="+etcd,
		"--bind-address="+c.Host, fmt.Sprintf("--secure-port=%d", c.Port),
		"--advertise-address="+c.Host, "--endpoint-reconciler-type=none",
		"--tls-cert-file="+c.file("server.crt"), "--tls-private-key-file="+c.file("server.key"),
		"--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC", "--token-auth-file="+c.file("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+c.file("accounts.key"), "--service-account-key-file="+c.file("accounts.key"))
	server.await(t, readyWithin, func() error {
		return c.Ask("GET", "/readyz", "", nil)
	})
	Run(t, "kube-controller-manager",
		"--kubeconfig="+c.Kubeconfig(controllers, "default"), "--leader-elect=false", "--secure-port=0",
		// Without it the Job controller may not create Pods.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.file("accounts.key"), "--root-ca-file="+c.CAFile)
	c.awaitAccount("default")
	return c
}

// For is the same cluster for a part of the test, which fails in its place.
func (c *Cluster) For(t testing.TB) *Cluster {
	other := *c
	other.t = t
	return &other
}

// startEtcd returns the address that it serves.
func (c *Cluster) startEtcd() string {
	c.t.Helper()
	client := fmt.Sprintf("http://127.0.0.1:%d", freeport.Loopback(c.t))
	peer := fmt.Sprintf("http://127.0.0.1:%d", freeport.Loopback(c.t))
	etcd := Run(c.t, "etcd", "--data-dir="+c.file("etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	etcd.await(c.t, readyWithin, func() error {
		resp, err := http.Get(client + "/health")
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), `"true"`) {
			return fmt.Errorf("%s (%w)", body, err)
		}
		return nil
	})
	return client
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

// Namespace makes one in which Pod Security's level restricted is enforced, and
// waited for until Pods can be made in it.
func (c *Cluster) Namespace(name string) {
	c.t.Helper()
	c.Do("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata": {"name": %q, "labels": {
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}}}`, name), nil)
	c.awaitAccount(name)
}

// awaitAccount waits for what the controllers put into each namespace.
func (c *Cluster) awaitAccount(namespace string) {
	c.t.Helper()
	Await(c.t, readyWithin, "the controllers to fill namespace "+namespace, func() error {
		return errors.Join(c.Ask("GET", "/api/v1/namespaces/"+namespace+"/serviceaccounts/default", "", nil),
			c.Ask("GET", "/api/v1/namespaces/"+namespace+"/configmaps/kube-root-ca.crt", "", nil))
	})
}

// Environment is what the kubelet adds to each container's, so that its program
// finds the API server.
func (c *Cluster) Environment() map[string]string {
	return map[string]string{"KUBERNETES_SERVICE_HOST": c.Host, "KUBERNETES_SERVICE_PORT": strconv.Itoa(c.Port)}
}
