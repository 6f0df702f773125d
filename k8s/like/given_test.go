package like

import (
	"encoding/json"
	"strings"
	"testing"

	"perch.example/k8s"
)

// mounted is what perch's container has of volumes: path and subPath of each
// mount, with the volume's source.
func mounted(t *testing.T, p *k8s.Path) string {
	t.Helper()
	var all []string
	for _, m := range p.Pod.Containers[0].VolumeMounts {
		for _, v := range p.Pod.Volumes {
			if v.Name != m.Name {
				continue
			}
			raw, err := json.Marshal(v.VolumeSource)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m.MountPath+" "+m.SubPath+" "+string(raw))
		}
	}
	return strings.Join(all, "\n")
}

// TestNothingBesideTheAuthorities: of a volume perch gets the source and the key
// of the file that the workload trusts. What cannot be told apart it does not get.
func TestNothingBesideTheAuthorities(t *testing.T) {
	file := func(at, mount string) string {
		return "env: [{name: SSL_CERT_FILE, value: " + at + "}], volumeMounts: [{name: v, mountPath: " + mount + "}]"
	}
	dir := func(at string) string {
		return "env: [{name: SSL_CERT_DIR, value: " + at + "}], volumeMounts: [{name: v, mountPath: " + at + "}]"
	}
	held := `{apiVersion: v1, kind: ConfigMap, metadata: {name: trust, namespace: shop}, data: {ca.crt: x}}`
	for name, c := range map[string]struct {
		main, volume string
		more         []string
		want         string // mounted; empty: nothing
		left         string // why
	}{
		"its source of several": {file("/b/ca.crt", "/b"), "projected: {sources: [{configMap: {name: trust, items: [{key: ca.crt, path: ca.crt}]}}, {secret: {name: db, items: [{key: password, path: password}]}}, {secret: {name: app-tls}}]}", nil,
			`/b  {"projected":{"sources":[{"configMap":{"name":"trust","items":[{"key":"ca.crt","path":"ca.crt"}]}}]}}`, ""},
		"one of two that may": {file("/b/ca.crt", "/b"), "projected: {sources: [{configMap: {name: trust}}, {secret: {name: app-tls}}]}", nil, "", "which of its objects"},
		"one of two, seen": {file("/b/ca.crt", "/b"), "projected: {sources: [{configMap: {name: trust}}, {secret: {name: app-tls}}]}", []string{held},
			`/b  {"projected":{"sources":[{"configMap":{"name":"trust","items":[{"key":"ca.crt","path":"ca.crt"}]}}]}}`, ""},
		"the other of two, seen": {file("/b/tls.pem", "/b"), "projected: {sources: [{configMap: {name: trust}}, {secret: {name: app-tls}}]}", []string{held},
			`/b  {"projected":{"sources":[{"secret":{"name":"app-tls","items":[{"key":"tls.pem","path":"tls.pem"}]}}]}}`, ""},
		"a folder down": {file("/t/ca/ca.crt", "/t"), "secret: {secretName: s, items: [{key: ca.crt, path: ca/ca.crt}, {key: tls.key, path: tls.key}]}", nil,
			`/t  {"secret":{"secretName":"s","items":[{"key":"ca.crt","path":"ca/ca.crt"}]}}`, ""},
		"a folder down, of keys": {file("/t/ca/ca.crt", "/t"), "secret: {secretName: s}", nil, "", "no such file"},
		"not among the items":    {file("/t/ca.crt", "/t"), "secret: {secretName: s, items: [{key: tls.key, path: tls.key}]}", nil, "", "no such file"},
		"a Secret as a folder":   {dir("/etc/tls"), "secret: {secretName: s}", nil, "", "which of its keys"},
		"a Secret's items": {dir("/etc/tls"), "secret: {secretName: s, items: [{key: ca.crt, path: ca.crt}, {key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}, {key: ca.key, path: ca-key.pem}]}", nil,
			`/etc/tls  {"secret":{"secretName":"s","items":[{"key":"ca.crt","path":"ca.crt"}]}}`, ""},
		"a Secret among others": {dir("/etc/tls"), "projected: {sources: [{configMap: {name: c}}, {secret: {name: s}}]}", nil, "", "which of its keys"},
		"a driver's":            {file("/mnt/s/ca.pem", "/mnt/s"), "csi: {driver: secrets-store.csi.k8s.io, nodePublishSecretRef: {name: vault}, volumeAttributes: {secretProviderClass: all}}", nil, "", "secrets-store.csi.k8s.io serves a whole volume"},
		"a file of the node": {file("/host/etc/ssl/ca.pem", "/host"), "hostPath: {path: /}", nil,
			`/host/etc/ssl/ca.pem  {"hostPath":{"path":"/etc/ssl/ca.pem","type":"File"}}`, ""},
		"a folder of the node":   {dir("/host"), "hostPath: {path: /}", nil, "", "others lie than authorities"},
		"the node's authorities": {dir("/host/etc/ssl/certs"), "hostPath: {path: /etc/ssl/certs}", nil, `/host/etc/ssl/certs  {"hostPath":{"path":"/etc/ssl/certs","type":"Directory"}}`, ""},
		"by a variable":          {"env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: SSL_CERT_FILE, value: /h/ca.pem}], volumeMounts: [{name: v, mountPath: /h, subPathExpr: $(POD)}]", "hostPath: {path: /etc/pki}", nil, "", "depends on the workload's variables"},
		"two of one Secret": {"env: [{name: SSL_CERT_FILE, value: /b/a.crt}, {name: NODE_EXTRA_CA_CERTS, value: /b/b.crt}], volumeMounts: [{name: v, mountPath: /b}]", "projected: {sources: [{secret: {name: two}}]}", nil,
			`/b  {"projected":{"sources":[{"secret":{"name":"two","items":[{"key":"a.crt","path":"a.crt"}]}},{"secret":{"name":"two","items":[{"key":"b.crt","path":"b.crt"}]}}]}}`, ""},
	} {
		p := made(t, inMain(c.main, ", volumes: [{name: v, "+c.volume+"}]", c.more...))
		if got := mounted(t, p); got != c.want {
			t.Errorf("%s: perch gets\n%s\nwant\n%s\nleft %v", name, got, c.want, p.Left)
		}
		if c.left != "" && !says(p.Left, "", c.left) {
			t.Errorf("%s: %v does not say %q", name, p.Left, c.left)
		}
	}
}

// TestWhatGoReadsLast: perch's image has the first file of Go's list, so that one
// further down is told by a variable.
func TestWhatGoReadsLast(t *testing.T) {
	const ocp, alpine = "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"
	at := func(paths ...string) string {
		var mounts []string
		for _, m := range paths {
			mounts = append(mounts, "{name: v, mountPath: "+m+", subPath: ca-bundle.crt}")
		}
		return "volumeMounts: [" + strings.Join(mounts, ", ") + "]"
	}
	for name, c := range map[string]struct{ main, file, dir string }{
		"OpenShift's":            {at(ocp), ocp, ""},
		"Alpine's":               {at(alpine), alpine, ""},
		"SUSE's":                 {at("/etc/ssl/ca-bundle.pem"), "/etc/ssl/ca-bundle.pem", ""},
		"an old one's":           {at("/etc/pki/tls/cacert.pem"), "/etc/pki/tls/cacert.pem", ""},
		"both, in Go's order":    {at(alpine, ocp), ocp, ""},
		"the first":              {at("/etc/ssl/certs/ca-certificates.crt"), "", ""},
		"a variable comes first": {"env: [{name: SSL_CERT_FILE, value: " + alpine + "}], " + at(ocp, alpine), alpine, ""},
		"the second folder": {"env: [{name: NODE_EXTRA_CA_CERTS, value: /n/a.pem}], volumeMounts: [{name: v, mountPath: /n}, {name: v, mountPath: /etc/pki/tls/certs}]", "",
			"/etc/pki/tls/certs:/etc/ssl/certs:/n"},
	} {
		p := made(t, inMain(c.main, ", volumes: [{name: v, configMap: {name: trusted-ca}}]"))
		if file, dir := value(p, "SSL_CERT_FILE"), value(p, "SSL_CERT_DIR"); file != c.file || dir != c.dir {
			t.Errorf("%s: file %q, folders %q, want %q, %q; left %v", name, file, dir, c.file, c.dir, p.Left)
		}
	}
}

// TestAuthoritiesOfOtherLibraries: perch has one file; of a second, and of AWS's,
// it tells.
func TestAuthoritiesOfOtherLibraries(t *testing.T) {
	p := made(t, inMain("env: [{name: REQUESTS_CA_BUNDLE, value: /ca/a.pem}, {name: CURL_CA_BUNDLE, value: /ca/a.pem}, {name: GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, value: /ca/b.pem}, {name: AWS_CA_BUNDLE, value: /ca/aws.pem}], volumeMounts: [{name: v, mountPath: /ca}]",
		", volumes: [{name: v, configMap: {name: c}}]"))
	if value(p, "SSL_CERT_FILE") != "/ca/a.pem" || !says(p.Left, "variable GRPC_DEFAULT", "that of REQUESTS_CA_BUNDLE") || !says(p.Left, "variable AWS_CA_BUNDLE", "tls.ca_file") ||
		says(p.Left, "variable CURL_CA_BUNDLE", "") {
		t.Errorf("%s, left %v", value(p, "SSL_CERT_FILE"), p.Left)
	}
}
