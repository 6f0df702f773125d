package k8s

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Where things lie in the Pod. They are mounted, the image has nothing there.
const (
	configFolder = "/etc/perch/config"
	secretFolder = "/etc/perch/secrets"
	policyFolder = "/etc/perch/policy"
)

// user is the image's, who owns no file in it.
const user = 65532

// pod is the Pod that runs perch with these arguments.
func (b *maker) pod(args []string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	labels := b.labels()
	pod := corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{
			RestartPolicy:                 restart,
			TerminationGracePeriodSeconds: new(int64(grace.Seconds())),
			ServiceAccountName:            b.account(),
			AutomountServiceAccountToken:  new(b.cfg.State.ConfigMap != ""), // nothing else asks the API server
			EnableServiceLinks:            new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(user)), RunAsGroup: new(int64(user)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{b.container(args)},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: b.o.Name},
				}}},
				{Name: "secrets", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
					SecretName: b.o.Name, Optional: new(true),
				}}},
				{Name: "policy", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: b.o.Policy}, Optional: new(true),
				}}},
			},
		},
	}
	pod.Labels = labels
	if len(b.o.Files) > 0 {
		pod.Annotations = map[string]string{"perch.example/config-hash": b.contentHash()}
	}
	b.keepInFile(&pod.Spec)
	b.onPath(&pod)
	b.sayUnmounted(pod.Spec)
	return pod
}

func (b *maker) container(args []string) corev1.Container {
	memory := b.memoryNeeded()
	return corev1.Container{
		Name: "perch", Image: b.o.Image, Args: args,
		Env: b.env(), WorkingDir: b.workingDir(),
		Resources: corev1.ResourceRequirements{
			// No CPU limit: throttling would delay perch and look like a fault of the path.
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: mebibytes(memory)},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: mebibytes(memory)},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: configFolder, ReadOnly: true},
			{Name: "secrets", MountPath: secretFolder, ReadOnly: true},
			{Name: "policy", MountPath: policyFolder, ReadOnly: true},
		},
	}
}

// env is the container's environment: where the Pod is, what the config's secrets
// come from, what its environment has to say.
func (b *maker) env() []corev1.EnvVar {
	env := []corev1.EnvVar{
		fromField("PERCH_NODE", "spec.nodeName"),
		fromField("PERCH_POD_NAMESPACE", "metadata.namespace"),
		// Kubernetes 1.35 and later label a Pod with its node's zone; before, it is empty.
		fromField("PERCH_ZONE", "metadata.labels['topology.kubernetes.io/zone']"),
		// Below the memory limit: the garbage collector works harder before the kernel kills.
		{Name: "GOMEMLIMIT", Value: strconv.Itoa(b.memoryNeeded()*7/8) + "MiB"},
	}
	for name, value := range map[string]string{"PERCH_NAME": b.o.PerchName, "PERCH_VANTAGE": b.o.Vantage} {
		if value != "" {
			env = append(env, corev1.EnvVar{Name: name, Value: value})
		}
	}
	if b.o.Kind == KindIndexedJob { // Kubernetes itself sets only JOB_COMPLETION_INDEX
		env = append(env, corev1.EnvVar{Name: "JOB_COMPLETION_COUNT", Value: strconv.Itoa(b.o.Shards)})
	}
	return append(sorted(env), b.secretEnv(env)...)
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// account is the ServiceAccount of the Pod: the application's where it decides what
// the network lets out.
func (b *maker) account() string {
	if b.o.Path != nil && b.o.Path.Pod.ServiceAccountName != "" {
		return b.o.Path.Pod.ServiceAccountName
	}
	return b.o.Name
}

// contentHash changes with the config's files, their names included.
func (b *maker) contentHash() string {
	h := sha256.New()
	for _, name := range sortedKeys(b.files) {
		for _, part := range []string{name, b.files[name]} {
			h.Write(strconv.AppendInt(nil, int64(len(part)), 10))
			h.Write([]byte("\x00" + part))
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// memoryNeeded is the memory limit, in MiB. Of a run that pushes and remembers its
// time series are what takes most. Measured, resident at most:
//
//	 10 targets, 20 probes    2,420 series   30 MiB
//	200 targets, 400 probes  48,020 series   50 MiB
//	100 targets, 1000 probes 69,920 series   54 MiB
//	300 targets, 3000 probes 209,720 series  99 MiB
//	1000 targets, 2000 probes 240,020 series 114 MiB
//
// perch serve is there while it is scraped, and holds connections all the time.
// Measured over minutes, scraped each 15 s, 2 probes a target:
//
//	 10 targets   2,480 series   40 connections                 33 MiB
//	 50 targets  12,320 series  200 connections                 39 MiB
//	100 targets  24,620 series  400 connections                 48 MiB
//	200 targets  49,220 series  800 connections                 62 MiB
//	200 targets  53,820 series  800 connections, all under TLS  73 MiB
//
// otlp took 5 MiB more than a push, of 200 targets' 48,020 series.
//
// This leaves a quarter of it free, and a plan without a number gets the least.
func (b *maker) memoryNeeded() int {
	const least, unit = 64, 16
	const run, runSeries = 40, 2000                           // with the quarter
	const serve, serveSeries, serveConnections = 31, 2000, 48 // a MiB for so many
	const otlp = 8
	needed := run + b.plan.Series/runSeries
	if b.o.Kind == KindDeployment {
		needed = serve + b.plan.Series/serveSeries + b.plan.PeakOpen/serveConnections
		needed += (needed + 2) / 3
	}
	if b.cfg.OTLP.Endpoint != "" {
		needed += otlp
	}
	return max(least, (needed+unit-1)/unit*unit)
}

func mebibytes(n int) resource.Quantity { return resource.MustParse(strconv.Itoa(n) + "Mi") }

// add copies labels or annotations; those that are there win.
func add(to *map[string]string, from map[string]string) {
	if len(from) == 0 {
		return
	}
	all := maps.Clone(from)
	maps.Copy(all, *to)
	*to = all
}
