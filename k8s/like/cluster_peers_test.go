//go:build peers

package like

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perch.example/internal/cluster"
	"perch.example/k8s"
)

// TestTheCasesInACluster: the manifest of each case is applied to an API server
// that enforces Pod Security's level restricted, its Pod is made there, and the
// server itself is asked whom each Service, budget, monitor and workload of the
// input selects.
func TestTheCasesInACluster(t *testing.T) {
	c := cluster.Start(t)
	c.InstallKinds()
	c.Namespace("shop")
	c.Namespace("tools")
	c.Apply(`{apiVersion: v1, kind: Namespace, metadata: {name: edge, labels: {pod-security.kubernetes.io/enforce: privileged}}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: gvisor}, handler: runsc}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: checkout, namespace: shop}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: ledger, namespace: shop}}
`)
	var whole bytes.Buffer
	pods := map[string]corev1.Pod{}
	judges := map[string][]judged{}
	for _, file := range inputs(t) {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		raw := mustRead(t, file)
		all, err := read(raw)
		if err != nil {
			t.Fatal(err)
		}
		o := optionsOf(t, raw)
		o.Name = "perch-" + name
		p, err := New(raw, o)
		if err != nil {
			t.Fatal(err)
		}
		m := manifestOn(t, o.Name, p, k8s.KindCronJob)
		whole.WriteString("---\n")
		if err := m.Write(&whole); err != nil {
			t.Fatal(err)
		}
		pod := corev1.Pod{ObjectMeta: templateIn(t, m).ObjectMeta, Spec: templateIn(t, m).Spec}
		pod.APIVersion, pod.Kind, pod.Name, pod.Namespace = "v1", "Pod", o.Name, p.Namespace
		pods[name], judges[name] = pod, attracting(t, all)
	}
	c.Apply(whole.String())
	for name, pod := range pods {
		raw, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ask("POST", "/api/v1/namespaces/"+pod.Namespace+"/pods", string(raw), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, pod := range pods {
		for _, j := range judges[name] {
			if j.in != nil && !slices.Contains(j.in, pod.Namespace) {
				continue
			}
			var selected corev1.PodList
			c.Do("GET", fmt.Sprintf("/api/v1/namespaces/%s/pods?labelSelector=%s", pod.Namespace, url.QueryEscape(j.selector.String())), "", &selected)
			if slices.ContainsFunc(selected.Items, func(s corev1.Pod) bool { return s.Name == pod.Name }) {
				t.Errorf("%s: the API server says that %s (%s) selects perch", name, j.who, j.selector)
			}
		}
	}
	var perches corev1.PodList
	c.Do("GET", "/api/v1/namespaces/shop/pods?labelSelector="+url.QueryEscape("app.kubernetes.io/name=perch"), "", &perches)
	if len(perches.Items) < 10 {
		t.Errorf("%d of perch's Pods are there: the test proves nothing", len(perches.Items))
	}
}
