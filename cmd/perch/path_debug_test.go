package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

func printsOf(urls ...[3]string) (f probes.Fingerprint) {
	for _, u := range urls {
		f.Paths = append(f.Paths, probes.PathPrint{Scheme: u[0], Host: u[1], Port: u[2]})
	}
	return f
}

// TestDebugLines as a person gets them, with nothing known and with all.
func TestDebugLines(t *testing.T) {
	t.Parallel()
	f := printsOf([3]string{"https", "api.example", "443"}, [3]string{"http", "2001:db8::1", "8080"}, [3]string{"https", "api.example", "443"})
	lines := strings.Join(appPod{container: "perch-path-1"}.lines(f), "\n")
	want(t, "the commands", lines, "NAMESPACE=...", "\nPOD=...", "kubectl get pods -n \"$NAMESPACE\"", "\nIMAGE=...",
		`kubectl debug -n "$NAMESPACE" "$POD" --profile=restricted --image="$IMAGE" --container=perch-path-1 --quiet`,
		"-- /perch path --debug-container --output json --log-level error https://api.example 'http://[2001:db8::1]:8080'\n")
	lines = strings.Join(appPod{namespace: "shop", pod: "app-0", image: "r.example/perch@sha256:ab"}.lines(f), "\n")
	if strings.Contains(lines, "...") || strings.Contains(lines, `"$`+"POD") {
		t.Errorf("something is left to fill in:\n%s", lines)
	}
	want(t, "the commands", lines, "kubectl debug -n shop app-0 --profile=restricted --image=r.example/perch@sha256:ab --container=perch-path-")
	if one, other := newName(), newName(); one == other {
		t.Errorf("two names are the same: %s", one)
	}
}

// shell runs the lines with a kubectl that shows its arguments, each in angle
// brackets.
func shell(t *testing.T, lines []string) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	const stubs = "kubectl() { for a in \"$@\"; do printf '<%s>' \"$a\"; done; echo; }\nperch() { kubectl \"$@\"; }\n"
	cmd := exec.CommandContext(t.Context(), sh, "-eu")
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(stubs + strings.Join(lines, "\n") + "\ncat app.json perch.json\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, strings.Join(lines, "\n"))
	}
	return string(out)
}

// TestDebugLinesAreSafeInAShell: whatever a name holds is one argument, and
// nothing of it is run.
func TestDebugLinesAreSafeInAShell(t *testing.T) {
	t.Parallel()
	const evil = `a'b $(touch x) "c" ;echo run`
	app := appPod{namespace: evil, pod: evil, image: evil, container: "perch-path-1", own: []string{quoted(evil)}}
	out := shell(t, app.lines(printsOf([3]string{"https", evil, "443"})))
	want(t, "what the shell ran", out,
		"<debug><-n><"+evil+"><"+evil+"><--profile=restricted><--image="+evil+"><--container=perch-path-1><--quiet><--env=PERCH_NODE=",
		"<--></perch><path><--debug-container><--output><json><--log-level><error><https://"+evil+">\n",
		`<--for=jsonpath={.status.ephemeralContainerStatuses[?(@.name=="perch-path-1")].state.terminated.reason}>`,
		"<-o><jsonpath={.spec.nodeName}>", `<-o><jsonpath={.metadata.labels.topology\.kubernetes\.io/zone}>`,
		"<logs><-n><"+evil+"><"+evil+"><-c><perch-path-1>\n",
		"<path><--output><json><"+evil+">\n", "<path><--compare><app.json><perch.json>\n")
	if slices.Contains(strings.Split(out, "\n"), "run") {
		t.Errorf("a name was run:\n%s", out)
	}
}

// TestDebugLinesRunAsPrinted with what is to be filled in filled in.
func TestDebugLinesRunAsPrinted(t *testing.T) {
	t.Parallel()
	lines := appPod{container: "perch-path-1"}.lines(printsOf([3]string{"https", "api.example", "443"}))
	for i, l := range lines {
		lines[i] = strings.Replace(l, "=...", "='my own'", 1)
	}
	want(t, "what the shell ran", shell(t, lines), "<debug><-n><my own><my own><--profile=restricted><--image=my own>", "<logs><-n><my own><my own><-c>")
}
