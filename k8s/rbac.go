package k8s

import (
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rights are perch's ServiceAccount and what it may do: two verbs on the objects of
// its state, by name, and nothing else. It may create nothing, since RBAC cannot
// limit a right to create to a name.
func (b *maker) rights() []Object {
	var objects []Object
	if b.o.Path == nil || b.o.Path.Pod.ServiceAccountName == "" {
		objects = append(objects, &corev1.ServiceAccount{
			TypeMeta:                     meta.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta:                   b.meta(b.o.Name),
			AutomountServiceAccountToken: new(false), // a Pod gets the token if it asks for it
		})
	}
	if b.cfg.State.ConfigMap == "" {
		return objects
	}
	rule := func(group, resource string) rbac.PolicyRule {
		return rbac.PolicyRule{
			APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: b.stateObjects(),
			Verbs: []string{"get", "update"},
		}
	}
	const version = rbac.GroupName + "/v1"
	return append(objects,
		&rbac.Role{
			TypeMeta: meta.TypeMeta{APIVersion: version, Kind: "Role"}, ObjectMeta: b.meta(b.stateName()),
			Rules: []rbac.PolicyRule{rule("", "configmaps"), rule("coordination.k8s.io", "leases")},
		},
		&rbac.RoleBinding{
			TypeMeta: meta.TypeMeta{APIVersion: version, Kind: "RoleBinding"}, ObjectMeta: b.meta(b.stateName()),
			RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: b.stateName()},
			// Without a namespace: of the one that this is applied to.
			Subjects: []rbac.Subject{{Kind: rbac.ServiceAccountKind, Name: b.account(), Namespace: b.o.Namespace}},
		})
}
