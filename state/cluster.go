package state

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ConfigMapConfig says which ConfigMap holds the state, and how to reach it. A
// Lease of the same name is its lock. Both must exist: see docs/state.md.
type ConfigMapConfig struct {
	Name, Namespace string
	// Identity names this process to people: the Pod's or the host's name. What
	// stands in the Lease is made unique beyond that.
	Identity string
	// Rest is how the API server is reached; Cluster makes one.
	Rest *rest.Config
	// Lease is how long the lock of a perch that was killed holds, as the others
	// see it; whole seconds. 0: 30 s.
	Lease time.Duration
	// Renew is how often a held lock is renewed, well below Lease. 0: a third of it, in an election a fifth.
	Renew time.Duration
	// Wait is how long OpenConfigMap waits for its turn. 0: twice Lease. It is
	// never shorter than what it takes to see that a holder is gone: Lease and a
	// fifth more.
	Wait time.Duration
	// Waiting is told who holds the lock, each time that it is looked at in vain;
	// nil: nobody is.
	Waiting func(*LockedError)
	// Election: this is one of several replicas, of which the holder alone works.
	// Its Lease is 15 s by itself, and it waits without end. nil: it is no replica.
	Election *Election
	// inPod: this is a Pod's own way to its API server, where no proxy is.
	inPod bool
}

const (
	leaseDuration     = 30 * time.Second
	electionDuration  = 15 * time.Second
	serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"
)

func (c ConfigMapConfig) withDefaults() ConfigMapConfig {
	lasts, times := leaseDuration, 3
	if c.Election != nil {
		lasts, times = electionDuration, 5
	}
	if c.Lease <= 0 {
		c.Lease = lasts
	}
	c.Lease = max(time.Second, c.Lease.Truncate(time.Second))
	if c.Renew <= 0 {
		c.Renew = c.Lease / time.Duration(times)
	}
	if c.Wait <= 0 {
		c.Wait = 2 * c.Lease
	}
	if c.Election != nil { // another replica's Lease may be a longer one
		c.Wait = max(c.Wait, 2*leaseDuration)
	}
	c.Wait = max(c.Wait, c.Lease+c.Lease/5)
	return c
}

func (c ConfigMapConfig) check() error {
	switch {
	case c.Name == "" || c.Namespace == "":
		return fmt.Errorf("opening state: the ConfigMap's name is %q and its namespace %q: both are needed", c.Name, c.Namespace)
	case c.Rest == nil:
		return fmt.Errorf("opening state %q: no API server is given", c.path())
	}
	return nil
}

// path names the ConfigMap in errors, as a file's path does.
func (c ConfigMapConfig) path() string { return "configmap " + c.Namespace + "/" + c.Name }

// Cluster finds out how a ConfigMap is reached from here: by $KUBECONFIG when
// that is set, else in a Pod by its service account, else by ~/.kube/config, as
// kubectl does. env is os.LookupEnv.
func Cluster(name string, env func(string) (string, bool)) (ConfigMapConfig, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	c := ConfigMapConfig{Name: name, Identity: host}
	explicit, _ := env("KUBECONFIG")
	_, inPod := env("KUBERNETES_SERVICE_HOST")
	home, _ := env("HOME")
	switch {
	case explicit != "":
		return byKubeconfig(c, filepath.SplitList(explicit))
	case inPod:
		return byServiceAccount(c, env, serviceAccountDir)
	case home != "":
		return byKubeconfig(c, []string{filepath.Join(home, ".kube", "config")})
	}
	return c, fmt.Errorf("opening state %q: no cluster is known: perch runs in no Pod, and neither KUBECONFIG nor HOME is set", "configmap "+name)
}

func byServiceAccount(c ConfigMapConfig, env func(string) (string, bool), folder string) (ConfigMapConfig, error) {
	token, ca := filepath.Join(folder, "token"), filepath.Join(folder, "ca.crt")
	namespace, err := os.ReadFile(filepath.Join(folder, "namespace"))
	if err == nil {
		_, err = os.Stat(token)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("opening state %q: this Pod has no service account token: set serviceAccountName and automountServiceAccountToken: true in its spec (docs/state.md): %w", "configmap "+c.Name, err)
	}
	if err != nil {
		return c, fmt.Errorf("opening state %q: %w", "configmap "+c.Name, err)
	}
	host, _ := env("KUBERNETES_SERVICE_HOST")
	port, set := env("KUBERNETES_SERVICE_PORT")
	if !set {
		port = "443"
	}
	c.Namespace, c.inPod = strings.TrimSpace(string(namespace)), true
	c.Rest = &rest.Config{
		Proxy: direct,
		Host:  "https://" + net.JoinHostPort(host, port), TLSClientConfig: rest.TLSClientConfig{CAFile: ca},
		BearerTokenFile: token, // read anew each minute: it is short-lived
	}
	return c, nil
}

// direct is the API server's address inside the cluster, which the proxy that the
// environment names for what is outside does not know, and NO_PROXY often forgets.
func direct(*http.Request) (*url.URL, error) { return nil, nil }

func byKubeconfig(c ConfigMapConfig, files []string) (ConfigMapConfig, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: files}
	loaded, err := rules.Load()
	if err != nil {
		return c, fmt.Errorf("opening state %q: reading the kubeconfig: %w", "configmap "+c.Name, err)
	}
	config := clientcmd.NewNonInteractiveClientConfig(*loaded, "", &clientcmd.ConfigOverrides{}, rules)
	c.Rest, err = config.ClientConfig()
	if clientcmd.IsEmptyConfig(err) { // its own words advise a variable that nothing here reads
		return c, &AbsentError{fmt.Errorf("opening state %q: the kubeconfig (%s) does not exist, or names no cluster to use: let KUBECONFIG name one that does, or run perch in a Pod", "configmap "+c.Name, strings.Join(files, ", "))}
	}
	if err != nil {
		return c, fmt.Errorf("opening state %q: the kubeconfig (%s) names no cluster to use: %w", "configmap "+c.Name, strings.Join(files, ", "), err)
	}
	if c.Namespace, _, err = config.Namespace(); err != nil {
		return c, fmt.Errorf("opening state %q: reading the kubeconfig: %w", "configmap "+c.Name, err)
	}
	return c, nil
}
