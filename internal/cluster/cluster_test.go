//go:build peers

package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStart: the three programs work together, and a namespace refuses what
// Pod Security forbids.
func TestStart(t *testing.T) {
	begun := time.Now()
	c := Start(t)
	t.Logf("ready after %s", time.Since(begun).Round(time.Millisecond))
	c.Namespace("shop")
	_, err := c.Try("", "run", "-n", "shop", "loose", "--image=any")
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a Pod that may escalate: %v", err)
	}
	token := c.Token("shop", "default")
	mine := c.Kubeconfig(token, "shop")
	if _, err := c.As(mine, "", "get", "configmaps"); err == nil || !strings.Contains(err.Error(), `"system:serviceaccount:shop:default" cannot list`) {
		t.Errorf("an account without rights lists: %v", err)
	}
	if status, answer := c.Request(token, http.MethodGet, "/api/v1/namespaces/shop/configmaps", ""); status != http.StatusForbidden {
		t.Errorf("the same by a request: %d %s", status, answer)
	}
	c.InstallKinds()
	c.Apply("{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: any, namespace: shop}, spec: {any: 1}}")
	c.Apply(job)
	Await(t, time.Minute, "the Job's Pod", func() error {
		var pods struct {
			Items []struct{ Status struct{ Phase string } }
		}
		if err := c.Ask("GET", "/api/v1/namespaces/default/pods?labelSelector=job-name=one", "", &pods); err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Status.Phase != "Pending" {
			return fmt.Errorf("pods %+v, want one that is pending", pods.Items)
		}
		return nil
	})
}

const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: one, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: one, image: any}]}}}
`
