package like

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// meshLabels decide by themselves how a Pod's traffic leaves, or as whom.
func meshLabels() []string {
	return []string{
		"azure.workload.identity/use", "istio.io/dataplane-mode", "istio.io/rev", "istio.io/use-waypoint",
		"kuma.io/mesh", "kuma.io/sidecar-injection", "sidecar.istio.io/inject", "topology.istio.io/network",
	}
}

// labels decides which of the workload's labels perch's Pod carries:
//
//   - none that any guard asks for, so that no guard can change its mind; the
//     mesh's own labels are tried one by one instead;
//   - of the others those by which a policy of the input selects the workload.
//
// Where perch's own labels are taken for an application's already, a label may
// help that a guard excludes. Otherwise the path is refused.
func (b *builder) labels() error {
	if err := b.escape(); err != nil {
		return err
	}
	for _, key := range meshLabels() {
		value, has := b.app.labels[key]
		if !has {
			continue
		}
		tried := b.perch.with(labels.Set{key: value})
		if g := b.guarded(tried.labels); g != nil {
			b.left("label "+key, "with it %s would select perch: %s", g.who, g.harm)
			continue
		}
		b.perch = tried
		b.copied(fmt.Sprintf("label %s=%s", key, value), "it decides how the mesh or the cloud takes a Pod's traffic")
	}
	for _, p := range b.policies {
		if p.egress && p.covers(b.app) && !p.covers(b.perch) {
			b.carry(p.selector, p.object.String()+" selects the workload by it")
		}
	}
	for _, p := range b.peers {
		if p.admits(b.app) && !p.admits(b.perch) {
			b.carry(p.selector, p.who+" lets the workload in by it")
		}
	}
	if g := b.guarded(b.perch.labels); g != nil {
		return refused(g)
	}
	return nil
}

// carry gives perch the labels that make a selector select it, when all of them
// are free to be given.
func (b *builder) carry(s labels.Selector, why string) {
	if s == nil || !s.Matches(b.app.facts()) {
		return
	}
	taken, more := b.guardKeys(), labels.Set{}
	requirements, _ := s.Requirements()
	for _, r := range requirements {
		value, has := b.app.labels[r.Key()]
		if !has || r.Matches(b.perch.facts()) {
			continue
		}
		_, own := baseLabels("")[r.Key()]
		if later, _ := fate(r.Key()); taken[r.Key()] || own || later || !wanted(r.Operator()) {
			return
		}
		more[r.Key()] = value
	}
	tried := b.perch.with(more)
	if len(more) == 0 || !s.Matches(tried.facts()) || b.guarded(tried.labels) != nil {
		return
	}
	b.perch = tried
	b.copied("label "+more.String(), "%s, and no Service, PodDisruptionBudget, monitor or workload of the input asks for it", why)
}

// wanted reports whether a requirement holds for a label that is there.
func wanted(o selection.Operator) bool { return o == selection.Exists || needsValue(o) }

// escape gives perch the labels that guards exclude, where they would select it
// otherwise: a PodMonitor of a whole mesh has such a label for what it must not
// take.
func (b *builder) escape() error {
	for range len(b.guards) + 1 {
		g := b.guarded(b.perch.labels)
		if g == nil {
			return nil
		}
		key := b.excluding(g)
		if key == "" {
			return refused(g)
		}
		b.perch = b.perch.with(labels.Set{key: "true"})
		b.copied("label "+key+"=true", "not the workload's: without it %s would select perch, as every Pod that lacks it: %s", g.who, g.harm)
	}
	return refused(b.guarded(b.perch.labels))
}

// turnsNothingOn reports whether a label keeps others off and does no more. One
// that perch does not know and that has a domain is some tool's, which may inject
// something, or let something in, where it is set.
func turnsNothingOn(key string) bool {
	off := regexp.MustCompile(`ignore|exclu|skip|disable|opt-?out|unmonitored`)
	on := regexp.MustCompile(`admission|inject|webhook|mutat|sidecar|mesh|enable|identity|aadpodidbinding|use$`)
	domain, name, named := strings.Cut(strings.ToLower(key), "/")
	switch {
	case slices.Contains(meshLabels(), key), on.MatchString(domain + "/" + name):
		return false
	case named:
		return off.MatchString(name)
	}
	return true
}

// excluding returns a label that keeps a guard off, and that no policy asks for;
// empty: there is none.
func (b *builder) excluding(g *guard) string {
	requirements, _ := g.selector.Requirements()
	for _, r := range requirements {
		later, _ := fate(r.Key())
		if r.Operator() != selection.DoesNotExist || later || !turnsNothingOn(r.Key()) {
			continue
		}
		if !slices.ContainsFunc(b.policies, func(p policy) bool { return p.asksFor(r.Key()) }) {
			return r.Key()
		}
	}
	return ""
}

func refused(g *guard) error {
	return fmt.Errorf("--like: %s would select perch (%s): %s; let it select by a label that only the application has, or choose another --name", g.who, g.selector, g.harm)
}
