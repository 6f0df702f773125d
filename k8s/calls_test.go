package k8s

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"perch.example/config"
)

const withCalls = `version: 1
targets:
  - name: a
    url: https://a.example
    probes:
      - {name: p, kind: idle, holds: [10s], calls: calls.txt}
      - {name: q, kind: idle, holds: [10s], calls: /data/calls.txt}
      - {name: r, kind: idle, holds: [10s], calls: /etc/perch/config/old.txt}
`

// TestCallsBesideTheConfig: a file of calls is where perch looks for it, and another one
// for another Pod.
func TestCallsBesideTheConfig(t *testing.T) {
	hash := map[string]bool{}
	for _, data := range []string{"1700000000\n", "1700000001\n"} {
		m := made(t, withCalls, Options{Calls: []config.File{{Name: "./calls.txt", Data: []byte(data)}}})
		if got := found[*corev1.ConfigMap](t, m).Data; got["calls.txt"] != data || got["perch.yaml"] != withCalls {
			t.Errorf("the ConfigMap has %v", got)
		}
		pod := found[*batchv1.CronJob](t, m).Spec.JobTemplate.Spec.Template
		if got := pod.Spec.Containers[0].WorkingDir; got != configFolder {
			t.Errorf("perch looks for it in %q", got)
		}
		hash[pod.Annotations["perch.example/config-hash"]] = true
		notes := strings.Join(m.Notes, "\n")
		if !strings.Contains(notes, "the Pod has no /data/calls.txt: nothing is mounted there; mount its folder with a patch") || strings.Contains(notes, "no calls.txt") ||
			!strings.Contains(notes, "the Pod has no /etc/perch/config/old.txt: the config's ConfigMap is mounted there, and has no such file") {
			t.Errorf("notes: %s", notes)
		}
	}
	if len(hash) != 2 {
		t.Error("another file of calls, and the Pod is the same")
	}
	if got := found[*batchv1.CronJob](t, made(t, calls("http://a.example", ""), Options{})).Spec.JobTemplate.Spec.Template.Spec.Containers[0].WorkingDir; got != "" {
		t.Errorf("without calls: %q", got)
	}
}

func TestCallsRefused(t *testing.T) {
	cfg, p, files := parsed(t, withCalls, "")
	for name, c := range map[string]struct {
		calls []config.File
		want  string // empty: taken
	}{
		"all the room":   {[]config.File{{Name: "a", Data: make([]byte, MostCalls/2)}, {Name: "b", Data: make([]byte, MostCalls/2)}}, ""},
		"more":           {[]config.File{{Name: "a", Data: make([]byte, MostCalls/2)}, {Name: "b", Data: make([]byte, MostCalls/2+1)}}, "the files of calls: 524289 bytes, and beside the config there is room for 524288: keep the newest calls alone"},
		"in a folder":    {[]config.File{{Name: "logs/calls.txt"}}, "calls: logs/calls.txt: it goes into a ConfigMap, beside the config"},
		"above":          {[]config.File{{Name: "../calls.txt"}}, "calls: ../calls.txt: it goes into a ConfigMap"},
		"a bad name":     {[]config.File{{Name: "my calls"}}, "calls: my calls: it goes into a ConfigMap"},
		"a config":       {[]config.File{{Name: "calls.yml"}}, "perch would read it as one"},
		"twice":          {[]config.File{{Name: "a"}, {Name: "./a"}}, "calls: ./a: another file is called so, too"},
		"a config's own": {[]config.File{{Name: "perch.yaml"}}, "perch would read it as one"},
	} {
		_, err := New(cfg, p, Options{Files: files, Calls: c.calls})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
