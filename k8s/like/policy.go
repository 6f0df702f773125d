package like

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perch.example/k8s"
)

// policy is an object that decides what may leave the Pods that it selects, and
// how.
type policy struct {
	object   object
	part     int // which of the object's rules, from 0
	covers   func(pod) bool
	selector labels.Selector // its part about the Pod's labels; nil: it selects by something else, or everything
	egress   bool            // false: it decides only what its Pods receive
	isolates bool            // what it does not allow may not leave
	// clone returns the spec that selects perch's label alone, without what is
	// about receiving.
	clone func() map[string]any
	// shared: the object belongs to no namespace, or to the mesh's own.
	shared bool
}

// asksFor reports whether the policy's selection depends on a label.
func (p policy) asksFor(key string) bool {
	if p.selector == nil {
		return false
	}
	requirements, _ := p.selector.Requirements()
	for _, r := range requirements {
		if r.Key() == key {
			return true
		}
	}
	return false
}

// readPolicies finds the policies that hold in the workload's namespace.
func (b *builder) readPolicies() error {
	for _, o := range b.in {
		for _, find := range []func(object) ([]policy, error){b.networkPolicy, b.ciliumPolicy, b.egressGateway, b.securityGroups, b.istioPolicy} {
			found, err := find(o)
			if err != nil {
				return err
			}
			b.policies = append(b.policies, found...)
		}
	}
	return nil
}

// clones copies the policies that select the workload onto perch's own label. What
// holds for perch already is not copied: a second one of it would add nothing.
func (b *builder) clones() error {
	for _, p := range b.policies {
		app, perch := p.covers(b.app), p.covers(b.perch)
		switch {
		case !app && perch && p.egress:
			b.left(p.object.String(), "holds for perch and not for the workload: perch may be stopped where the workload is not; exclude what has the label %s from it", pathLabel)
		case !app:
		case !p.egress:
			b.left(p.object.String(), "not cloned: it decides only what the workload receives, and perch receives nothing of it")
		case perch:
			b.copied(p.object.String(), "holds for perch as it is, so nothing is cloned: %s", b.already(p))
		case p.holdsCredential():
			b.left(p.object.String(), "not cloned: it selects the workload, and holds what looks like a credential, which must not stand in another manifest: let it select %s=%s, too", pathLabel, b.o.Name)
		default:
			b.path.Policies = append(b.path.Policies, b.cloned(p))
			b.copied(p.object.String(), "selects the workload: cloned onto %s=%s, without what it says of receiving", pathLabel, b.o.Name)
		}
		if app && p.egress && p.isolates {
			b.path.Isolated = true
		}
	}
	return nil
}

// holdsCredential reports whether a clone could show a secret. Policies of ports,
// addresses and labels have no place for one.
func (p policy) holdsCredential() bool {
	switch p.object.GetKind() {
	case "NetworkPolicy", "FQDNNetworkPolicy", "SecurityGroupPolicy", "CiliumEgressGatewayPolicy":
		return false
	}
	return credentialIn(p.clone())
}

// already says by what a policy selects perch.
func (b *builder) already(p policy) string {
	switch {
	case p.selector == nil:
		return "it goes by the ServiceAccount, which is the same"
	case p.selector.Empty():
		return "it selects every Pod there"
	}
	return "it selects " + p.selector.String()
}

// cloned makes the object. Of the original's metadata nothing is kept: labels
// and annotations of tools that manage it would make them manage the clone.
func (b *builder) cloned(p policy) *unstructured.Unstructured {
	name := b.o.Name + "-" + p.object.GetName()
	c := &unstructured.Unstructured{Object: map[string]any{"spec": p.clone()}}
	c.SetAPIVersion(p.object.GetAPIVersion())
	c.SetKind(p.object.GetKind())
	if p.shared {
		name = b.o.Name + "-" + b.app.namespace + "-" + p.object.GetName()
	} else {
		c.SetNamespace(b.app.namespace)
	}
	if p.part > 0 {
		name += "-" + strconv.Itoa(p.part+1)
	}
	c.SetName(b.free(c, name))
	c.SetLabels(ownLabels(b.o.Name))
	c.SetAnnotations(map[string]string{"perch.example/cloned-from": p.object.String()})
	return c
}

// free is the first name for an object that nothing of the input has, and no other
// clone: that one would be overwritten. In which namespace they stand is not
// looked at: where it differs, a number does no harm.
func (b *builder) free(c *unstructured.Unstructured, name string) string {
	for n, tried := 2, short(name); ; n++ {
		c.SetName(tried)
		r := k8s.RefOf(c)
		r.Namespace = ""
		if !b.names[r] {
			b.names[r] = true
			return tried
		}
		tried = short(name + "-" + strconv.Itoa(n))
	}
}

// short keeps a name within what Kubernetes allows, and its own.
func short(name string) string {
	const most = 253
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	// A name's parts end in a letter or a digit.
	return strings.TrimRight(name[:most-9], ".-") + "-" + hex.EncodeToString(sum[:4])
}

// onLabel is the selector of a clone.
func (b *builder) onLabel() map[string]any {
	return map[string]any{"matchLabels": map[string]any{pathLabel: b.o.Name}}
}

// within is a map at a key, made where none is.
func within(fields map[string]any, key string) map[string]any {
	inner, is := fields[key].(map[string]any)
	if !is {
		return map[string]any{}
	}
	return inner
}
