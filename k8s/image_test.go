package k8s

import (
	"fmt"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

// dockerfile returns the rest of the last line that begins with an instruction.
func dockerfile(t *testing.T, instruction string) string {
	t.Helper()
	found := ""
	for line := range strings.Lines(string(mustRead(t, "../Dockerfile"))) {
		if rest, is := strings.CutPrefix(line, instruction+" "); is {
			found = strings.TrimSpace(rest)
		}
	}
	return found
}

func TestTheImageAndTheCronJobAgree(t *testing.T) {
	pod := read[batchv1.CronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec.Template.Spec
	ids := fmt.Sprintf("%d:%d", *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup)
	if user := dockerfile(t, "USER"); user != ids {
		t.Errorf("the image's user is %s, the pod's is %s", user, ids)
	}
	if len(pod.Containers[0].Command) > 0 || dockerfile(t, "ENTRYPOINT") != `["/perch"]` {
		t.Error("the pod gives arguments to the image's entrypoint, which must be perch")
	}
}

func TestTheImageIsBuiltWithTheModulesGo(t *testing.T) {
	_, rest, _ := strings.Cut(string(mustRead(t, "../go.mod")), "\ngo ")
	version, _, found := strings.Cut(rest, "\n")
	if !found || !strings.Contains(string(mustRead(t, "../Dockerfile")), "\nFROM golang:"+version+" AS build\n") {
		t.Errorf("go.mod says go %q, the Dockerfile builds with another", version)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
