package k8s

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perch.example/probes"
)

const metricsPortName = "metrics"

// deployment runs perch serve in one Pod: the old one ends before the new one
// starts, for two would share a budget and wait for each other's state. Or in
// several, of which one probes.
func (b *maker) deployment() Object {
	args := []string{"serve", "--config=" + configFolder}
	if b.o.Replicas > 1 {
		args = append(args, electFlag)
	}
	pod := b.pod(append(args, b.sidecarFlags()...), corev1.RestartPolicyAlways)
	pod.Spec.TopologySpreadConstraints = b.apart()
	main := &pod.Spec.Containers[0]
	main.Ports = []corev1.ContainerPort{{Name: metricsPortName, ContainerPort: b.metricsPort(), Protocol: corev1.ProtocolTCP}}
	main.LivenessProbe = httpProbe("/healthz")
	main.ReadinessProbe = httpProbe("/readyz")
	if b.o.Path != nil && b.o.Path.Sidecar != nil { // perch answers nothing while it waits for it, 30 s at most
		main.StartupProbe = httpProbe("/healthz")
		main.StartupProbe.FailureThreshold = 6
	}
	b.sayServed()
	b.sayReplicas()
	return &appsv1.Deployment{
		TypeMeta:   meta.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: b.meta(b.o.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(int32(max(b.o.Replicas, 1))),
			RevisionHistoryLimit: new(int32(3)),
			Strategy:             b.strategy(),
			Selector:             b.selector(),
			Template:             pod,
		},
	}
}

// httpProbe is asked each 10 s, and may take 3: a perch that is busy with a burst
// of handshakes on a small node is not broken.
func httpProbe(path string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString(metricsPortName)}},
		PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 3,
	}
}

// sayServed tells of what perch serve takes otherwise than a run does.
func (b *maker) sayServed() {
	always := func(s probes.Spec) bool { return s.Every == 0 }
	if slices.ContainsFunc(b.cfg.Targets, func(t probes.Target) bool { return slices.ContainsFunc(t.Probes, always) }) {
		b.note("every: always is each 5m in perch serve, which has no schedule but this one")
	}
	if b.cfg.State.ConfigMap != "" && b.plan.Every > 0 && b.plan.Every < time.Minute {
		b.note("the shortest every is %s: perch serve then writes the state's ConfigMap after each such wave; state: {file: /var/lib/perch/state} spares the API server that", probes.Spoken(b.plan.Every))
	}
	if b.cfg.Metrics.PushURL != "" || b.cfg.Metrics.Textfile != "" {
		b.note("perch serve is scraped: it neither pushes nor writes metrics.textfile")
	}
}

// selector selects perch's Pods.
func (b *maker) selector() *meta.LabelSelector {
	return &meta.LabelSelector{MatchLabels: b.labels()}
}

// metricsPort is that of `metrics.listen`, where the kubelet and Prometheus come.
func (b *maker) metricsPort() int32 {
	listen := b.cfg.Metrics.Listen
	host, text, _ := net.SplitHostPort(listen) // the config is checked
	port, err := strconv.ParseInt(text, 10, 32)
	addr, notAddr := netip.ParseAddr(host)
	switch {
	case err != nil || port < 1 || port > 65535:
		b.refuse("metrics.listen %q: the Pod's port has to be known beforehand; want one such as :9877", listen)
	case host != "" && (notAddr != nil || !addr.IsUnspecified()):
		b.refuse("metrics.listen %q: the kubelet and Prometheus come to the Pod's own address; want :%d", listen, port)
	}
	return int32(port)
}
