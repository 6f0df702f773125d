package main

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"perch.example/probes"
)

// appPod is the pod beside which a fingerprint is to be taken. What is empty is
// left for the reader to fill in.
type appPod struct {
	namespace, pod, image string
	container             string   // empty: a new name
	own                   []string // the arguments of this command
}

// urlsShown bounds a command line; a reader adds what is missing.
const urlsShown = 20

// lines are the commands that take the fingerprint in the application's pod and
// compare it with this one. They carry the origins of the targets, and nothing
// else of the config.
//
// The answer is read from the container's log. `kubectl debug` could attach
// (-i), but what a container has written before that is lost, and without
// --container kubectl mixes a line of its own into stdout. The name is new each
// time: an ephemeral container stays in its pod until that ends, and a second one
// of a name is none, without an error (kubectl 1.32 to 1.37), so that the first
// one's log would be read again.
func (a appPod) lines(f probes.Fingerprint) []string {
	var lines []string
	fill := func(value *string, name, what string) string {
		if *value != "" {
			return quoted(*value)
		}
		lines = append(lines, name+"="+what)
		return `"$` + name + `"`
	}
	namespace := fill(&a.namespace, "NAMESPACE", "...   # the application's")
	pod := fill(&a.pod, "POD", "...         # one of the application's: kubectl get pods -n "+namespace)
	image := fill(&a.image, "IMAGE", "...       # perch's: the one that runs here")
	container := a.container
	if container == "" {
		container = newName()
	}
	urls := origins(f)
	if len(urls) > urlsShown {
		urls = urls[:urlsShown]
	}
	of := func(name, field string) string {
		return "  --env=" + name + `="$(kubectl get pod -n ` + namespace + " " + pod + " -o 'jsonpath={" + field + `}')" \`
	}
	return append(lines,
		"kubectl debug -n "+namespace+" "+pod+" --profile=restricted --image="+image+" --container="+container+" --quiet \\",
		of("PERCH_NODE", ".spec.nodeName"),
		of("PERCH_ZONE", `.metadata.labels.topology\.kubernetes\.io/zone`),
		"  -- /perch path --debug-container --output json --log-level error "+strings.Join(urls, " "),
		"kubectl wait -n "+namespace+" pod "+pod+" --timeout=6m \\",
		`  --for='jsonpath={.status.ephemeralContainerStatuses[?(@.name=="`+container+`")].state.terminated.reason}'`,
		"kubectl logs -n "+namespace+" "+pod+" -c "+container+" > app.json",
		strings.Join(append([]string{"perch path --output json"}, a.own...), " ")+" > perch.json   # here",
		"perch path --compare app.json perch.json",
	)
}

// origins are the targets' URLs, each once, as much of them as decides a path.
func origins(f probes.Fingerprint) (all []string) {
	seen := map[string]bool{}
	for _, p := range f.Paths {
		host := p.Host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		if p.Port != map[string]string{"http": "80", "https": "443"}[p.Scheme] {
			host += ":" + p.Port
		}
		if url := quoted(p.Scheme + "://" + host); !seen[url] {
			seen[url] = true
			all = append(all, url)
		}
	}
	return all
}

// newName names an ephemeral container as no other of the pod is.
func newName() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	return "perch-path-" + hex.EncodeToString(b)
}

// quoted is one word to any POSIX shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
