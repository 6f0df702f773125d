package k8s

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// slackEnv is in each Pod, so that the config alone turns Slack on.
const slackEnv = "SLACK_WEBHOOK_URL"

// secretEnv are the variables that the config's secrets are read from, each a key
// of the one Secret. They are optional: a Pod without one starts, and the run ends
// before it sends anything, naming what is missing; without the word the Pod would
// wait for it, and the kubelet's events alone would say why.
func (b *maker) secretEnv(own []corev1.EnvVar) []corev1.EnvVar {
	var env []corev1.EnvVar
	of := map[string]string{} // key: variable
	for _, name := range b.secretVariables() {
		key := secretKey(name)
		if other, twice := of[key]; twice {
			b.refuse("the variables %s and %s would both be the key %s of the Secret %s: want names that differ in more than case", other, name, key, b.o.Name)
		}
		if slices.ContainsFunc(own, func(e corev1.EnvVar) bool { return e.Name == name }) {
			b.refuse("from: {env: %s}: perch's Pod has this variable for another purpose; want another name", name)
		}
		if len(validation.IsConfigMapKey(key)) > 0 { // it is made of a variable's signs: it can only be too long
			b.refuse("from: {env: %s}: a key of a Secret has 253 signs at most; want a shorter name", name)
		}
		of[key] = name
		env = append(env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: b.o.Name}, Key: key, Optional: new(true),
		}}})
	}
	b.saySecret()
	return env
}

func (b *maker) secretVariables() []string {
	var names []string
	for _, s := range b.cfg.Sources() {
		if s.Env != "" {
			names = append(names, s.Env)
		}
	}
	if b.cfg.Slack.Webhook.Zero() && b.cfg.Slack.BotToken.Zero() && !slices.Contains(names, slackEnv) {
		names = append(names, slackEnv)
	}
	return names
}

// secretKey is the key of the Secret that a variable comes from.
func secretKey(variable string) string {
	return strings.ToLower(strings.ReplaceAll(variable, "_", "-"))
}

// saySecret tells what the Secret has to hold.
func (b *maker) saySecret() {
	var keys []string
	for _, s := range b.cfg.Sources() {
		if s.Env != "" {
			keys = append(keys, secretKey(s.Env))
		} else if key, is := secretFile(s.File); is {
			keys = append(keys, key)
		}
	}
	for _, f := range b.tlsFiles() {
		if key, is := secretFile(f); is {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	b.note("the Secret %s is yours to make: kubectl create secret generic %s%s --from-file=%s",
		b.o.Name, b.o.Name, b.in(), strings.Join(slices.Compact(keys), " --from-file="))
}

// secretFile is the key of the Secret that a file is; false: it is none.
func secretFile(file string) (string, bool) {
	key, inside := strings.CutPrefix(path.Clean(file), secretFolder+"/")
	return key, inside && len(validation.IsConfigMapKey(key)) == 0
}

// tlsFiles are the PEM files that the probes and otlp need.
func (b *maker) tlsFiles() []string {
	found := map[string]bool{}
	for _, f := range []string{b.cfg.OTLP.CAFile, b.cfg.OTLP.CertFile, b.cfg.OTLP.KeyFile} {
		if f != "" {
			found[f] = true
		}
	}
	for _, t := range b.cfg.Targets {
		for _, s := range t.Probes {
			for _, f := range []string{s.TLS.CAFile, s.TLS.CertFile, s.TLS.KeyFile} {
				if f != "" {
					found[f] = true
				}
			}
		}
	}
	return sortedKeys(found)
}

// sayUnmounted tells of files that the config names and the Pod does not have.
func (b *maker) sayUnmounted(pod corev1.PodSpec) {
	files := b.tlsFiles()
	for _, s := range b.cfg.Sources() {
		if s.File != "" {
			files = append(files, s.File)
		}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if why := missing(pod, file); why != "" {
			b.note("the Pod has no %s: %s; make it a key of the Secret %s and write %s/NAME, or mount its folder with a patch", file, why, b.o.Name, secretFolder)
		}
	}
	for _, file := range b.callFiles() {
		why := missing(pod, file)
		if inFolder(path.Clean(file), configFolder) {
			why = "the config's ConfigMap is mounted there, and has no such file"
		}
		if why != "" {
			b.note("the Pod has no %s: %s; mount its folder with a patch, or put it beside the config and write its name alone: calls: %s", file, why, path.Base(file))
		}
	}
	if f := b.cfg.Metrics.Textfile; f != "" && b.o.Kind != KindDeployment && missing(pod, f) != "" {
		b.note("metrics.textfile %s: nothing is mounted there, and the Pod's own files are read-only, so that each run would end with status 4: "+
			"mount a volume with a patch, or use metrics.push or --kind deployment; the node's folder (hostPath) is what Pod Security's restricted forbids", f)
	}
}

// missing says why a Pod has no such file; empty: it may have it. Of a mounted
// volume nothing is known but that it is there.
func missing(pod corev1.PodSpec, file string) string {
	if !path.IsAbs(file) {
		return "its path begins in /, where the image holds perch alone"
	}
	if path.Clean(file) == "/etc/ssl/certs/ca-certificates.crt" { // the image's
		return ""
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !inFolder(path.Clean(file), path.Clean(m.MountPath)) {
			continue
		}
		if _, is := secretFile(file); m.MountPath == secretFolder && !is {
			return "a key of a Secret cannot be called so"
		}
		return ""
	}
	return "nothing is mounted there"
}

func sorted(env []corev1.EnvVar) []corev1.EnvVar {
	slices.SortFunc(env, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return env
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
