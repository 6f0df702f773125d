package like

import (
	"fmt"
	"slices"
	"strings"
)

// identity copies the ServiceAccount where something of the input goes by it: a
// cloud's role, or what lets the workload in by name. Otherwise perch keeps an
// account of its own, whose rights are two verbs on its state.
func (b *builder) identity() error {
	account, seen := accountOf(b.in, b.app)
	why := cloudRole(account, seen, b.app.labels["azure.workload.identity/use"] == "true")
	if why == "" {
		var err error
		if why, err = b.knownByName(); err != nil {
			return err
		}
	}
	name := "serviceAccountName " + b.app.account
	if why != "" {
		b.path.Pod.ServiceAccountName = b.app.account
		b.perch.account, b.perch.accountLabels = b.app.account, b.app.accountLabels
		b.copied(name, "%s", why)
		b.left("rights", "perch acts as %s then, with all that this account may do, in the cloud as well; and perch's Role is bound to it, so that the workload may read and change perch's state", b.app.account)
		return nil
	}
	switch {
	case b.app.account == "default":
	case !seen:
		b.left(name, "not copied: the input does not hold it, so a cloud's role of it cannot be seen; collect sa too")
	default:
		b.left(name, "not copied: nothing of the input goes by it. A role by EKS Pod Identity, or one given to the account in Google's IAM without an annotation, stands in no object: where egress goes by that, bind perch's Role to this account and set it in perch's Pod")
	}
	return nil
}

// cloudRole says by what a cloud gives an account's Pods a role; empty: nothing
// is seen.
func cloudRole(account object, seen, azure bool) string {
	if !seen {
		if azure {
			return "azure.workload.identity/use: the Pod calls Azure as this account's identity"
		}
		return ""
	}
	for _, of := range []struct{ key, why string }{
		{"eks.amazonaws.com/role-arn", "its role in AWS (IRSA) decides what the Pod may call"},
		{"iam.gke.io/gcp-service-account", "its account in Google Cloud (Workload Identity) decides what the Pod may call"},
		{"azure.workload.identity/client-id", "its identity in Azure decides what the Pod may call"},
	} {
		if account.GetAnnotations()[of.key] != "" {
			return of.key + ": " + of.why
		}
	}
	return ""
}

// knownByName says what lets the workload in by its account; empty: nothing.
func (b *builder) knownByName() (string, error) {
	for _, o := range b.in {
		var names []string
		var err error
		switch {
		case o.is("security.istio.io", "AuthorizationPolicy"):
			names, err = principals(o)
		case o.is("policy.linkerd.io", "MeshTLSAuthentication"):
			names, err = identities(o)
		}
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(names, b.meansAccount) {
			return fmt.Sprintf("%s goes by this account", o), nil
		}
	}
	return "", nil
}

// meansAccount reports whether a name that a mesh goes by means the workload's
// account and not every account.
func (b *builder) meansAccount(name string) bool {
	app, perch := b.app, b.perch
	for _, form := range []func(p pod) string{
		func(p pod) string { return "/ns/" + p.namespace + "/sa/" + p.account },
		func(p pod) string { return p.namespace + "/" + p.account },
		func(p pod) string { return p.account + "." + p.namespace + ".serviceaccount." },
	} {
		if like(name, form(app)) && !like(name, form(perch)) {
			return true
		}
	}
	return false
}

// like compares a name of an identity with an account's, whatever trust domain
// stands around it. A * at an end of the name means anything.
func like(name, account string) bool {
	switch {
	case name == "*" || name == "":
		return true
	case strings.HasSuffix(name, "*"):
		_, rest, found := strings.Cut(strings.TrimSuffix(name, "*"), "/ns/")
		return found && strings.HasPrefix(account, "/ns/"+rest)
	case strings.HasPrefix(name, "*"):
		return strings.HasSuffix(account, name[1:])
	case strings.HasPrefix(account, "/ns/"):
		return strings.HasSuffix(name, account)
	case strings.HasSuffix(account, ".serviceaccount."):
		return strings.HasPrefix(name, account)
	}
	return name == account
}

// principals are the callers that an AuthorizationPolicy tells apart.
func principals(o object) ([]string, error) {
	var rules []struct {
		From []struct {
			Source struct {
				Principals         []string `json:"principals"`
				NotPrincipals      []string `json:"notPrincipals"`
				ServiceAccounts    []string `json:"serviceAccounts"`
				NotServiceAccounts []string `json:"notServiceAccounts"`
			} `json:"source"`
		} `json:"from"`
	}
	if err := o.decode(&rules, "spec", "rules"); err != nil {
		return nil, err
	}
	var names []string
	for _, rule := range rules {
		for _, from := range rule.From {
			s := from.Source
			names = slices.Concat(names, s.Principals, s.NotPrincipals)
			for _, account := range slices.Concat(s.ServiceAccounts, s.NotServiceAccounts) {
				if !strings.Contains(account, "/") {
					account = o.GetNamespace() + "/" + account
				}
				names = append(names, account)
			}
		}
	}
	return names, nil
}

// identities are the callers that a policy of Linkerd lets in.
func identities(o object) ([]string, error) {
	var spec struct {
		Identities   []string `json:"identities"`
		IdentityRefs []struct {
			Kind      string `json:"kind"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"identityRefs"`
	}
	if err := o.decode(&spec, "spec"); err != nil {
		return nil, err
	}
	names := spec.Identities
	for _, r := range spec.IdentityRefs {
		if r.Kind != "ServiceAccount" {
			continue
		}
		if r.Namespace == "" {
			r.Namespace = o.GetNamespace()
		}
		names = append(names, r.Namespace+"/"+r.Name)
	}
	return names, nil
}
