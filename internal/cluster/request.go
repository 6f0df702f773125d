//go:build peers

package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// Request asks the API server with a token, as the body's JSON if there is one,
// and returns the status and the answer.
func (c *Cluster) Request(token, method, path, body string) (int, string) {
	c.t.Helper()
	request, err := http.NewRequest(method, fmt.Sprintf("https://%s:%d%s", c.Host, c.Port, path), strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := c.client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// newClient trusts the cluster's authority alone.
func (c *Cluster) newClient() *http.Client {
	c.t.Helper()
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		c.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		c.t.Fatalf("%s holds no certificate", c.CAFile)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	c.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
