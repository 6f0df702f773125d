//go:build peers

package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
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
	status, answer, err := c.request(token, method, path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	return status, answer
}

func (c *Cluster) request(token, method, path, body string) (int, string, error) {
	request, err := http.NewRequest(method, fmt.Sprintf("https://%s:%d%s", c.Host, c.Port, path), strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := c.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// Ask is Request as the administrator, from any goroutine. It reads the answer
// into an object, unless that is nil. The error of an answer that is not a success
// is a *Refused.
func (c *Cluster) Ask(method, path, body string, into any) error {
	status, answer, err := c.request(c.admin, method, path, body)
	if err != nil {
		return err
	}
	if status < 200 || status > 299 {
		return fmt.Errorf("%s %s: %w", method, path, &Refused{Status: status, Answer: answer})
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal([]byte(answer), into)
}

// Do is Ask, and fails the test.
func (c *Cluster) Do(method, path, body string, into any) {
	c.t.Helper()
	if err := c.Ask(method, path, body, into); err != nil {
		c.t.Fatal(err)
	}
}

// Refused is an answer of the API server that is not a success.
type Refused struct {
	Status int
	Answer string // its Status object, as JSON
}

func (r *Refused) Error() string { return fmt.Sprintf("status %d: %s", r.Status, r.Answer) }

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
