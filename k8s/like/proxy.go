package like

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// proxyVariables are those by which perch's probes find a proxy, as most clients do;
// its notices and pushes find one by all but the last two.
func proxyVariables() []string {
	return []string{
		"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy",
	}
}

// environment copies the variables that name a proxy, and those that they are
// made of.
func (b *builder) environment() error {
	v := b.variablesOf(b.main)
	taken, some := map[string]bool{}, false
	for _, name := range proxyVariables() {
		e, has := v.all[name]
		if !has {
			continue
		}
		some = true
		if !v.mayShow(name, 0) {
			b.left("variable "+name, "it holds a password, or what looks like a credential, as a plain value, which must not stand in another manifest; keep the address in a Secret, for the workload and for perch")
			continue
		}
		b.variable(v, e, taken)
		b.copied("variable "+name, "%s", proxyWhy(e))
	}
	if some {
		b.left("the workload's HTTP proxy", "perch's notices and pushes go through it, and so do its probes of each target that does not say `proxy: none` (NO_PROXY must name what is inside the cluster): say it where the application's client does not read the environment, as Java's and Node's do not; its calls of the API server connect themselves")
	}
	if len(v.unknown) > 0 {
		b.left("variables from "+inWords(v.unknown), "the input does not hold it, so whether it names a proxy or authorities cannot be seen; collect cm too, or copy them by hand")
	}
	return nil
}

func proxyWhy(e corev1.EnvVar) string {
	if e.ValueFrom != nil {
		return "from where the workload has it; the proxy's port has to be added to perch's NetworkPolicy by hand"
	}
	return "perch's own calls leave as the workload's do"
}

// references finds $(NAME) in a variable's value.
func references(value string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)`).FindAllStringSubmatch(value, -1) {
		names = append(names, m[1])
	}
	return names
}

// maxReferences bounds variables that are made of variables.
const maxReferences = 5

// variable adds a variable to perch's, after those that its value refers to, as
// Kubernetes wants them.
func (b *builder) variable(v variables, e corev1.EnvVar, taken map[string]bool) {
	if taken[e.Name] || len(taken) > len(v.all) {
		return
	}
	taken[e.Name] = true
	for _, name := range references(e.Value) {
		if other, has := v.all[name]; has {
			b.variable(v, other, taken)
		}
	}
	c := &b.path.Pod.Containers[0]
	c.Env = append(c.Env, e)
}

// mayShow reports whether a variable may stand in a manifest as it is: it, and
// what it refers to, has no password as a plain value.
func (v variables) mayShow(name string, depth int) bool {
	e := v.all[name]
	if e.ValueFrom != nil {
		return true
	}
	text := e.Value
	if before, _, has := strings.Cut(afterScheme(text), "@"); has {
		if strings.Trim(bareOf(before), ":") != "" {
			return false
		}
		for _, ref := range references(before) {
			if other, is := v.all[ref]; is && other.ValueFrom == nil {
				return false
			}
		}
	}
	if depth > 0 && credentialName(name) || credentialText(bareOf(text)) {
		return false
	}
	for _, ref := range references(text) {
		if depth == maxReferences || !v.mayShow(ref, depth+1) {
			return false
		}
	}
	return true
}

// bareOf is a value without its references, and without the @ that they stand
// before.
func bareOf(text string) string {
	text = regexp.MustCompile(`\$\([^)]*\)`).ReplaceAllString(text, "")
	return strings.NewReplacer("://:@", "://", "://@", "://").Replace(text)
}

// afterScheme is an address without its scheme.
func afterScheme(text string) string {
	if _, rest, has := strings.Cut(text, "://"); has {
		return rest
	}
	return text
}

// loopbackPorts are the ports beside the container where its proxy listens: a
// sidecar does, without which there is no way out.
func loopbackPorts(v variables) []int32 {
	var ports []int32
	for _, name := range proxyVariables() {
		value := v.values[name]
		if strings.EqualFold(name, "no_proxy") || value == "" {
			continue
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		u, err := url.Parse(value)
		if err != nil {
			continue
		}
		ip := net.ParseIP(u.Hostname())
		if !strings.EqualFold(u.Hostname(), "localhost") && (ip == nil || !ip.IsLoopback()) {
			continue
		}
		if n, err := strconv.ParseInt(u.Port(), 10, 32); err == nil && n > 0 && n < 1<<16 {
			ports = append(ports, int32(n))
		}
	}
	return ports
}
