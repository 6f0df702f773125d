//go:build peers

package cluster

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Kubeconfig writes one for a token, of that namespace, and returns its path.
func (c *Cluster) Kubeconfig(token, namespace string) string {
	c.t.Helper()
	file, err := os.CreateTemp(c.dir, "kubeconfig-")
	if err != nil {
		c.t.Fatal(err)
	}
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		c.t.Fatal(err)
	}
	_, err = fmt.Fprintf(file, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://%s:%d", certificate-authority-data: %s}}]
users: [{name: test, user: {token: %q}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: %s}}]
current-context: test
`, c.Host, c.Port, base64.StdEncoding.EncodeToString(ca), token, namespace)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		c.t.Fatal(err)
	}
	return file.Name()
}

// Token returns a token of a service account, as TokenRequest gives it.
func (c *Cluster) Token(namespace, account string) string {
	c.t.Helper()
	return c.token(namespace, account, "{}")
}

// token requests one with that specification.
func (c *Cluster) token(namespace, account, spec string) string {
	c.t.Helper()
	var made struct{ Status struct{ Token string } }
	c.Do("POST", "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+account+"/token",
		`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": `+spec+`}`, &made)
	return made.Status.Token
}

// Try runs kubectl as the administrator, with that standard input, and returns
// what it printed. The error holds what it complained of.
func (c *Cluster) Try(input string, args ...string) (string, error) {
	return c.As(c.Config, input, args...)
}

// As is Try with the rights of a kubeconfig.
func (c *Cluster) As(kubeconfig, input string, args ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.Command(c.kubectl, append([]string{"--kubeconfig=" + kubeconfig, "--request-timeout=30s"}, args...)...)
	// Its cache of what the server knows lies under HOME, and would outlive the server.
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+c.file("discovery"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// Kubectl runs kubectl as the administrator and returns what it printed; the
// test fails with what it complains of.
func (c *Cluster) Kubectl(args ...string) string {
	c.t.Helper()
	out, err := c.Try("", args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// Apply applies YAML, with any further arguments of kubectl apply, and fails
// the test if the server refuses it or warns.
func (c *Cluster) Apply(yaml string, args ...string) {
	c.t.Helper()
	if _, err := c.Try(yaml, append([]string{"--warnings-as-errors", "apply", "--validate=strict", "-f", "-"}, args...)...); err != nil {
		c.t.Fatal(err)
	}
}
