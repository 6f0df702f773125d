package like

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perch.example/k8s"
)

// withProxy is a workload whose proxy is a container beside it, with these fields.
func withProxy(sidecar, volumes string) string {
	text := inMain("env: [{name: HTTP_PROXY, value: 'http://localhost:3128'}]", ", volumes: ["+volumes+"]")
	text = strings.Replace(text, "containers: [", "containers: [{name: egress, image: e, ports: [{containerPort: 3128, hostPort: 3128, name: metrics}]"+sidecar+"}, ", 1)
	// The first container is the application's unless it says otherwise.
	return strings.Replace(text, "template: {metadata: {", "template: {metadata: {annotations: {kubectl.kubernetes.io/default-container: app}, ", 1)
}

// TestTheSidecarThatIsTheProxy: a classic one becomes native, without rights, and
// with its volumes and single keys.
func TestTheSidecarThatIsTheProxy(t *testing.T) {
	p := made(t, withProxy(", args: [--listen, ':3128'], lifecycle: {preStop: {exec: {command: [x]}}}, securityContext: {runAsUser: 101, capabilities: {add: [NET_BIND_SERVICE]}}, "+
		"env: [{name: USER, value: me}, {name: PASSWORD, valueFrom: {secretKeyRef: {name: s, key: pw}}}], "+
		"volumeMounts: [{name: c, mountPath: /c}, {name: t, mountPath: /t}]", "{name: c, configMap: {name: c}}, {name: t, emptyDir: {}}"))
	if len(p.Pod.InitContainers) != 1 || len(p.Pod.Volumes) != 2 {
		t.Fatalf("sidecars %v, volumes %v, left %v", p.Pod.InitContainers, p.Pod.Volumes, p.Left)
	}
	c := p.Pod.InitContainers[0]
	if *c.RestartPolicy != corev1.ContainerRestartPolicyAlways || c.Ports[0].HostPort != 0 || c.Ports[0].Name != "" || c.VolumeMounts[0].Name != p.Pod.Volumes[0].Name || c.Lifecycle != nil {
		t.Errorf("the sidecar is %+v", c)
	}
	if *c.SecurityContext.RunAsUser != 101 || *c.SecurityContext.AllowPrivilegeEscalation || len(c.SecurityContext.Capabilities.Drop) != 1 {
		t.Errorf("its context is %+v", c.SecurityContext)
	}
	if bad := forbidden(t, templateIn(t, manifestOn(t, "perch", p, k8s.KindCronJob))); len(bad) > 0 {
		t.Errorf("restricted forbids %v", bad)
	}
	if !says(p.Copied, "sidecar egress", "it reads pw of Secret s") || !says(p.Left, "sidecar egress", "perch's NetworkPolicy knows nothing") {
		t.Errorf("copied %v, left %v", p.Copied, p.Left)
	}
}

// TestASidecarThatIsLeft: with a secret, a right or more volumes than the way out
// needs. Nothing of it is shown.
func TestASidecarThatIsLeft(t *testing.T) {
	volume := func(source string) string {
		return withProxy(", volumeMounts: [{name: h, mountPath: /h}]", "{name: h, "+source+"}")
	}
	for name, text := range map[string]string{
		"a plain secret":         withProxy(", env: [{name: DB_PASSWORD, value: hunter2}]", ""),
		"a secret by its looks":  withProxy(", env: [{name: SETUP, value: 'Basic hunter2'}]", ""),
		"a random one":           withProxy(", env: [{name: SETUP, value: hunter2Abcdefghijklmnop}]", ""),
		"a password in a URL":    withProxy(", env: [{name: UPSTREAM, value: 'http://me:hunter2@corp:3128'}]", ""),
		"one in an argument":     withProxy(", args: ['--upstream=http://joe:hunter2@corp:3128']", ""),
		"one behind a flag":      withProxy(", args: [--token, hunter2]", ""),
		"one behind a short one": withProxy(", args: ['-auth=hunter2']", ""),
		"a file of one":          withProxy(", args: [--password-file=/hunter2]", ""),
		"one in a script":        withProxy(", command: [sh, -c, 'API_KEY=hunter2 squid']", ""),
		"one in a probe":         withProxy(", startupProbe: {exec: {command: [curl, -u, 'http://a:hunter2@localhost']}}", ""),
		"one in a header":        withProxy(", startupProbe: {httpGet: {port: 3128, httpHeaders: [{name: X, value: hunter2}]}}", ""),
		"all keys of a Secret":   withProxy(", envFrom: [{secretRef: {name: all-app-secrets}}]", ""),
		"privileged":             withProxy(", securityContext: {privileged: true}", ""),
		"a capability":           withProxy(", securityContext: {capabilities: {add: [SYS_ADMIN]}}", ""),
		"root":                   withProxy(", securityContext: {runAsUser: 0}", ""),
		"unconfined":             withProxy(", securityContext: {seccompProfile: {type: Unconfined}}", ""),
		"a raw device":           withProxy(", volumeDevices: [{name: h, devicePath: /dev/x}]", "{name: h, persistentVolumeClaim: {claimName: c}}"),
		"a whole Secret":         volume("secret: {secretName: app-secrets}"),
		"a token":                volume("projected: {sources: [{serviceAccountToken: {audience: vault, path: t}}, {configMap: {name: x}}]}"),
		"a driver's":             volume("csi: {driver: secrets-store.csi.k8s.io}"),
		"the node's files":       volume("hostPath: {path: /}"),
		"a claim":                volume("persistentVolumeClaim: {claimName: c}"),
		"no such port":           inMain("env: [{name: HTTP_PROXY, value: 'http://localhost:3128'}]", ""),
	} {
		p := made(t, text)
		if len(p.Pod.InitContainers) > 0 || len(p.Pod.Volumes) > 0 || !says(p.Left, "sidecar", "by hand") || strings.Contains(string(shown(t, p)), "hunter2") {
			t.Errorf("%s: sidecars %v, left %v", name, p.Pod.InitContainers, p.Left)
		}
	}
}
