package like

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perch.example/k8s"
)

// inMain puts fields into the workload's container.
func inMain(fields, podSpec string, more ...string) string {
	return strings.Replace(app("", podSpec, more...), "{name: app, image: a}", "{name: app, image: a, "+fields+"}", 1)
}

func value(p *k8s.Path, name string) string {
	for _, e := range p.Pod.Containers[0].Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// TestWhomPerchTrusts: each way to name authorities, and what perch gets of it.
func TestWhomPerchTrusts(t *testing.T) {
	env := func(name, value string) string { return "env: [{name: " + name + ", value: " + value + "}], " }
	const at = "volumeMounts: [{name: v, mountPath: /trust}]"
	for name, c := range map[string]struct {
		main, volume string
		file, dir    string
		keys         []string // of the volume; nil: all of it
		mounts       int
		left         string
	}{
		"Go and OpenSSL":       {env("SSL_CERT_FILE", "/trust/ca.pem") + at, "configMap: {name: c}", "/trust/ca.pem", "", []string{"ca.pem"}, 1, ""},
		"a key beside it":      {env("SSL_CERT_FILE", "/trust/ca.crt") + at, "secret: {secretName: s, defaultMode: 256}", "/trust/ca.crt", "", []string{"ca.crt"}, 1, ""},
		"Python":               {env("REQUESTS_CA_BUNDLE", "/trust/ca.pem") + at, "configMap: {name: c}", "/trust/ca.pem", "", []string{"ca.pem"}, 1, ""},
		"Node":                 {env("NODE_EXTRA_CA_CERTS", "/trust/ca.pem") + at, "configMap: {name: c}", "", "/etc/ssl/certs:/trust", []string{"ca.pem"}, 1, ""},
		"a folder":             {env("SSL_CERT_DIR", "/trust:/more") + at, "configMap: {name: c}", "", "/trust", nil, 1, "/more"},
		"in the image":         {env("SSL_CERT_FILE", "/opt/ca.pem") + at, "configMap: {name: c}", "", "", nil, 0, "/opt/ca.pem"},
		"on a claim":           {env("SSL_CERT_FILE", "/trust/ca.pem") + at, "persistentVolumeClaim: {claimName: c}", "", "", nil, 0, "/trust/ca.pem"},
		"a path unknown":       {env("SSL_CERT_FILE", "$(DIR)/ca.pem") + at, "configMap: {name: c}", "", "", nil, 0, "variable SSL_CERT_FILE"},
		"where perch's own is": {env("SSL_CERT_FILE", "/etc/perch/ca.pem") + "volumeMounts: [{name: v, mountPath: /etc/perch}]", "configMap: {name: c}", "", "", nil, 0, "/etc/perch/ca.pem"},
		"by itself":            {"volumeMounts: [{name: v, mountPath: /etc/ssl/certs}]", "configMap: {name: c}", "", "", nil, 1, ""},
		"one file by itself":   {"volumeMounts: [{name: v, mountPath: /etc/ssl/certs/x.pem, subPath: x.pem}]", "secret: {secretName: s}", "", "", []string{"x.pem"}, 1, ""},
		"what Go does not see": {"volumeMounts: [{name: v, mountPath: /usr/local/share/ca-certificates}]", "configMap: {name: c}", "", "/etc/ssl/certs:/usr/local/share/ca-certificates", nil, 1, ""},
		"a private key's":      {"volumeMounts: [{name: v, mountPath: /etc/ssl/private}]", "secret: {secretName: s}", "", "", nil, 0, ""},
		"the node's":           {"volumeMounts: [{name: v, mountPath: /etc/ssl/certs}]", "hostPath: {path: /etc/ssl/certs}", "", "", nil, 1, ""},
		"tokens of its own":    {"volumeMounts: [{name: v, mountPath: /etc/ssl/certs}]", "projected: {sources: [{serviceAccountToken: {path: t}}]}", "", "", nil, 0, "/etc/ssl/certs"},
		"a trust bundle":       {env("SSL_CERT_FILE", "/trust/ca.pem") + at, "projected: {sources: [{clusterTrustBundle: {name: b, path: ca.pem}}, {serviceAccountToken: {path: t}}]}", "/trust/ca.pem", "", nil, 1, ""},
		"Java's":               {env("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStore=/trust/t.jks") + at, "configMap: {name: c}", "", "", nil, 0, "variable JAVA_TOOL_OPTIONS"},
	} {
		p := made(t, inMain(c.main, ", volumes: [{name: v, "+c.volume+"}]"))
		if file, dir := value(p, "SSL_CERT_FILE"), value(p, "SSL_CERT_DIR"); file != c.file || dir != c.dir {
			t.Errorf("%s: file %q, folders %q, want %q, %q", name, file, dir, c.file, c.dir)
		}
		mounts := p.Pod.Containers[0].VolumeMounts
		if len(mounts) != c.mounts || len(p.Pod.Volumes) != c.mounts || slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return !m.ReadOnly }) {
			t.Errorf("%s: mounts %v of %v, want %d, read-only", name, mounts, p.Pod.Volumes, c.mounts)
			continue
		}
		if c.left != "" && !says(p.Left, c.left, "") {
			t.Errorf("%s: %v does not tell of %s", name, p.Left, c.left)
		}
		if c.mounts == 0 {
			continue
		}
		var keys []string
		v := p.Pod.Volumes[0]
		for _, items := range [][]corev1.KeyToPath{itemsOf(v)} {
			for _, k := range items {
				keys = append(keys, k.Key)
			}
		}
		if !slices.Equal(keys, c.keys) || (v.Secret != nil && v.Secret.DefaultMode != nil) {
			t.Errorf("%s: keys %v of %+v, want %v, readable by perch's user", name, keys, v, c.keys)
		}
		if v.Projected != nil && len(v.Projected.Sources) != 1 {
			t.Errorf("%s: %v: want no token of the workload", name, v.Projected.Sources)
		}
	}
}

func itemsOf(v corev1.Volume) []corev1.KeyToPath {
	switch {
	case v.ConfigMap != nil:
		return v.ConfigMap.Items
	case v.Secret != nil:
		return v.Secret.Items
	}
	return nil
}

// TestTwoFilesOfOneVolume: both keys, one volume.
func TestTwoFilesOfOneVolume(t *testing.T) {
	p := made(t, inMain("env: [{name: SSL_CERT_FILE, value: /trust/a.pem}, {name: NODE_EXTRA_CA_CERTS, value: /trust/b.pem}], volumeMounts: [{name: v, mountPath: /trust}]",
		", volumes: [{name: v, secret: {secretName: s}}]"))
	if len(p.Pod.Volumes) != 1 || len(p.Pod.Volumes[0].Secret.Items) != 2 {
		t.Errorf("volumes %+v", p.Pod.Volumes)
	}
}

// TestAllProxyIsCopied: perch's probes read it, as the application's client does.
func TestAllProxyIsCopied(t *testing.T) {
	p := made(t, inMain("env: [{name: ALL_PROXY, value: 'socks5://proxy.example:1080'}]", ""))
	if env := p.Pod.Containers[0].Env; len(env) != 1 || env[0].Name != "ALL_PROXY" || !says(p.Left, "the workload's HTTP proxy", "proxy: none") {
		t.Errorf("%+v, left %v", env, p.Left)
	}
	p = made(t, inMain("env: [{name: ALL_PROXY, value: 'http://me:hunter2@127.0.0.1:3128'}]", ""))
	if len(p.Pod.Containers[0].Env) > 0 || !says(p.Left, "variable ALL_PROXY", "it holds a password") || strings.Contains(string(shown(t, p)), "hunter2") {
		t.Errorf("%+v, left %v", p.Pod.Containers[0].Env, p.Left)
	}
}

// TestNoPasswordOfAProxy stands in the path, whatever way it is written.
func TestNoPasswordOfAProxy(t *testing.T) {
	const password = "hunter2"
	for name, c := range map[string]struct {
		env    string
		copied bool
	}{
		"none":                    {"{name: HTTPS_PROXY, value: 'http://proxy:3128'}", true},
		"in the address":          {"{name: HTTPS_PROXY, value: 'http://me:hunter2@proxy:3128'}", false},
		"without a scheme":        {"{name: https_proxy, value: 'me:hunter2@proxy:3128'}", false},
		"a user alone":            {"{name: HTTPS_PROXY, value: 'http://hunter2@proxy:3128'}", false},
		"by a plain variable":     {"{name: PASS, value: hunter2}, {name: HTTPS_PROXY, value: 'http://me:$(PASS)@proxy:3128'}", false},
		"two away":                {"{name: PASS, value: hunter2}, {name: P, value: '$(PASS)'}, {name: HTTPS_PROXY, value: 'http://$(P):$(P)@proxy:3128'}", false},
		"the whole by a variable": {"{name: P, value: 'http://me:hunter2@proxy'}, {name: HTTPS_PROXY, value: '$(P)'}", false},
		"by a Secret":             {"{name: PASS, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: HTTPS_PROXY, value: 'http://$(PASS):$(PASS)@proxy:3128'}", true},
		"a credential in a host":  {"{name: CORP_TOK, value: hunter2}, {name: HTTPS_PROXY, value: 'http://corp-$(CORP_TOK).x:3128'}", false},
		"a token in the query":    {"{name: HTTPS_PROXY, value: 'http://proxy:3128/?token=hunter2'}", false},
		"a host by a variable":    {"{name: HOST, value: proxy.example}, {name: HTTPS_PROXY, value: 'http://$(HOST):3128'}", true},
		"in a circle":             {"{name: A, value: '$(B)'}, {name: B, value: '$(A)'}, {name: HTTPS_PROXY, value: 'http://$(A)'}", false},
		"the whole from a Secret": {"{name: HTTPS_PROXY, valueFrom: {secretKeyRef: {name: s, key: k}}}", true},
	} {
		p := made(t, inMain("env: ["+c.env+"]", ""))
		text := string(shown(t, p))
		if strings.Contains(text, password) {
			t.Errorf("%s: the path shows the password\n%s", name, text)
		}
		copied := says(p.Copied, "variable HTTPS_PROXY", "") || says(p.Copied, "variable https_proxy", "")
		if copied != c.copied || (!copied && !says(p.Left, "_", "password")) {
			t.Errorf("%s: copied %v, left %v", name, p.Copied, p.Left)
		}
	}
}
