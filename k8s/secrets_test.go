package k8s

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestFilesThatThePodLacks are said, with what to do, and no others.
func TestFilesThatThePodLacks(t *testing.T) {
	pod := corev1.PodSpec{Containers: []corev1.Container{{VolumeMounts: []corev1.VolumeMount{
		{MountPath: secretFolder}, {MountPath: configFolder}, {MountPath: "/etc/ca/"}, {MountPath: "/one/file.pem"},
	}}}}
	for file, want := range map[string]string{
		secretFolder + "/token":                       "",
		secretFolder + "//token":                      "",
		secretFolder + "/../secrets/token":            "",
		secretFolder + "/a/b":                         "a key of a Secret cannot be called so",
		secretFolder + "/..":                          "nothing is mounted there",
		secretFolder + "/" + strings.Repeat("k", 254): "a key of a Secret cannot be called so",
		secretFolder + "x":                            "nothing is mounted there",
		configFolder + "/ca.pem":                      "",
		"/etc/ca/deep/ca.pem":                         "",
		"/one/file.pem":                               "",
		"/one/file.pem2":                              "nothing is mounted there",
		"/etc/ssl/certs/ca-certificates.crt":          "",
		"/etc/ssl/certs/other.crt":                    "nothing is mounted there",
		"token":                                       "its path begins in /, where the image holds perch alone",
		"":                                            "its path begins in /, where the image holds perch alone",
	} {
		if got := missing(pod, file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestWhatTheSecretHolds: the manifest names its keys, once each.
func TestWhatTheSecretHolds(t *testing.T) {
	text := strings.Replace(small, "perch-state", "other-state", 1) + `
slack: {bot_token: {from: {file: /etc/perch/secrets/bot}}, channel: "#a"}
webhook: {from: {env: HOOK_URL_2}, headers: [{name: X, from: {env: HOOK_URL_2}}]}
`
	m := made(t, text, Options{Namespace: "shop", Name: "other"})
	const want = "the Secret other is yours to make: kubectl create secret generic other -n shop --from-file=bot --from-file=hook-url-2"
	if !strings.Contains(strings.Join(m.Notes, "\n"), want) {
		t.Errorf("notes %q, want %q", m.Notes, want)
	}
	for _, e := range found[*batchv1.CronJob](t, m).Spec.JobTemplate.Spec.Template.Spec.Containers[0].Env {
		if e.Name == slackEnv {
			t.Errorf("%s, where a bot's token is", e.Name)
		}
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; e.Name != "HOOK_URL_2" || ref.Name != "other" || ref.Key != "hook-url-2" || ref.Optional == nil || !*ref.Optional {
			t.Errorf("%s is %+v", e.Name, ref)
		}
	}
}

// TestATextfileIsSaid: the Pod's own files are read-only.
func TestATextfileIsSaid(t *testing.T) {
	for file, want := range map[string]bool{"/var/lib/node/perch.prom": true, "/var/lib/perch/perch.prom": false} {
		text := strings.Replace(small, "{configmap: perch-state}", "{file: /var/lib/perch/state}\nmetrics: {textfile: "+file+"}", 1)
		m := made(t, text, Options{})
		if said := strings.Contains(strings.Join(m.Notes, "\n"), "metrics.textfile "+file+": nothing is mounted there"); said != want {
			t.Errorf("%s: said %t, want %t", file, said, want)
		}
	}
}
