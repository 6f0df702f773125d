package k8s

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perch.example/probes"
)

// networkPolicy lets perch out to what its config names, and in to its metrics.
// A NetworkPolicy cannot name a host: only where a target is an address are others
// shut out, else it is the port that is let out.
func (b *maker) networkPolicy() Object {
	spec := networking.NetworkPolicySpec{
		PodSelector: *b.selector(),
		PolicyTypes: []networking.PolicyType{networking.PolicyTypeEgress, networking.PolicyTypeIngress},
		Egress:      append([]networking.NetworkPolicyEgressRule{dnsRule()}, b.egress().rules()...),
	}
	if b.o.Kind == KindDeployment {
		port := intstr.FromString(metricsPortName)
		spec.Ingress = []networking.NetworkPolicyIngressRule{{
			Ports: []networking.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: &port}},
		}}
	}
	return &networking.NetworkPolicy{
		TypeMeta:   meta.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: b.meta(b.o.Name),
		Spec:       spec,
	}
}

// dnsRule lets out to the resolver. Most policies are looked at behind the Service,
// where OpenShift's resolver listens on 5353.
func dnsRule() networking.NetworkPolicyEgressRule {
	var ports []networking.NetworkPolicyPort
	for _, number := range []int32{53, 5353} {
		port := intstr.FromInt32(number)
		ports = append(ports,
			networking.NetworkPolicyPort{Protocol: new(corev1.ProtocolUDP), Port: &port},
			networking.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP), Port: &port})
	}
	return networking.NetworkPolicyEgressRule{Ports: ports}
}

// reach is one place that perch goes to.
type reach struct {
	what string // for people: "target stock-api"
	url  *url.URL
}

// egress collects the ports that perch needs. Where the application's own policies
// decide what gets out, they alone let out to the targets: perch must not get
// through where the application does not.
func (b *maker) egress() egress {
	e := egress{}
	isolated := b.o.Path != nil && b.o.Path.Isolated
	var inside []string
	for _, r := range b.reaches(isolated) {
		block, port, there := destination(r.url)
		if !there {
			continue
		}
		e.open(block, port, r.what)
		if inCluster(r.url) {
			inside = append(inside, r.what)
		}
	}
	if b.cfg.State.ConfigMap != "" {
		for _, block := range b.apiServer() {
			e.open(block, 443, theAPIServer)
			e.open(block, 6443, theAPIServer) // behind its Service
		}
	}
	if !b.cfg.Slack.Webhook.Zero() || !b.cfg.Slack.BotToken.Zero() {
		e.open("", 443, "slack")
	}
	if !b.cfg.Webhook.From.Zero() {
		e.open("", 443, "webhook")
	}
	if b.o.Path != nil && b.o.Path.Sidecar != nil {
		for _, port := range b.o.Path.Sidecar.Ports {
			e.open("", port, b.o.Path.Sidecar.Mesh)
		}
	}
	if !b.cfg.Webhook.From.Zero() {
		b.note("webhook.from: where it goes is a secret; the NetworkPolicy lets out to port 443, another port is yours to add")
	}
	if len(inside) > 0 {
		b.note("%s: in the cluster, most network plugins compare a policy's port with that of the Pod behind the Service; where it differs from the URL's, the NetworkPolicy %s needs it, too",
			strings.Join(inside, ", "), b.o.Name)
	}
	b.sayOverlap(isolated, e)
	return e
}

// reaches are the URLs of the config, and the application's proxies.
func (b *maker) reaches(isolated bool) []reach {
	var all []reach
	if !isolated {
		for _, t := range b.cfg.Targets {
			all = append(all, b.ways(t)...)
			all = append(all, tokenEndpoints(t)...)
		}
	}
	push := b.cfg.Metrics.PushURL
	if b.o.Kind == KindDeployment { // it is scraped
		push = ""
	}
	for _, named := range [][2]string{
		{"metrics.push", push}, {"webhook", b.cfg.Webhook.URL}, {"alertmanager", b.cfg.Alertmanager.URL},
		{"otlp", b.cfg.OTLP.Endpoint},
	} {
		if u, err := url.Parse(named[1]); err == nil && named[1] != "" {
			all = append(all, reach{named[0], u})
		}
	}
	return append(all, b.proxies()...)
}

// tokenEndpoints are where a target's probes get their tokens. An application with
// policies of its own gets them there itself, or perch has no business there.
func tokenEndpoints(t probes.Target) []reach {
	var all []reach
	seen := map[string]bool{}
	for _, s := range t.Probes {
		if s.OAuth != nil && !seen[s.OAuth.TokenURL.Host] {
			seen[s.OAuth.TokenURL.Host] = true
			all = append(all, reach{"token endpoint " + s.OAuth.TokenURL.Host, s.OAuth.TokenURL})
		}
	}
	return all
}

// destination is the address block and the port of a URL. There is none on
// loopback, where no policy looks.
func destination(u *url.URL) (block string, port int32, there bool) {
	port = map[string]int32{"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}[u.Scheme]
	if n, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
		port = int32(n)
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return "", port, port > 0 && !strings.EqualFold(host, "localhost")
	}
	addr = addr.Unmap().WithZone("")
	return fmt.Sprintf("%s/%d", addr, addr.BitLen()), port, port > 0 && !addr.IsLoopback()
}

// inCluster reports whether a URL looks like a Service's: service, service.namespace
// over plain http, or with svc in its name.
func inCluster(u *url.URL) bool {
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(u.Hostname(), "."), ".")
	return len(labels) == 1 || len(labels) == 2 && u.Scheme == "http" || slices.Contains(labels[1:], "svc")
}
