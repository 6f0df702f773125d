package main

import (
	"cmp"
	"regexp"
)

// podName is how Kubernetes calls a Deployment's Pod: its own name, its
// template's hash, and five letters more, none of them a vowel.
const podName = `^(.+)-[bcdfghjklmnpqrstvwxz2456789]{1,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`

// besideServe is how a command of perch is run beside perch serve: in its
// Deployment's Pod, for that is on its path, or else here. host is this
// machine's name, which in a Pod is the Pod's.
func besideServe(env func(string) (string, bool), host string) string {
	namespace, set := env("PERCH_POD_NAMESPACE") // the manifest sets it
	if !set || namespace == "" {
		return "perch"
	}
	name := ""
	if parts := regexp.MustCompile(podName).FindStringSubmatch(host); parts != nil {
		name = parts[1]
	}
	return "kubectl -n " + quoted(namespace) + " exec deploy/" + quoted(cmp.Or(name, "perch")) + " -- /perch"
}
