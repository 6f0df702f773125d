package like

import "testing"

// TestWhenTheAccountIsCopied: only where something goes by it.
func TestWhenTheAccountIsCopied(t *testing.T) {
	const spec = ", serviceAccountName: checkout"
	account := func(notes string) string {
		return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: checkout, namespace: shop, annotations: {" + notes + "}}}"
	}
	authorization := func(source string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: stock, namespace: stock}, spec: {rules: [{from: [{source: {" + source + "}}]}]}}"
	}
	linkerd := func(spec string) string {
		return "{apiVersion: policy.linkerd.io/v1alpha1, kind: MeshTLSAuthentication, metadata: {name: stock, namespace: stock}, spec: {" + spec + "}}"
	}
	for name, c := range map[string]struct {
		object string
		copied bool
	}{
		"not there":                  {namespace("", ""), false},
		"plain":                      {account("team: a"), false},
		"AWS":                        {account("eks.amazonaws.com/role-arn: a"), true},
		"Google":                     {account("iam.gke.io/gcp-service-account: a"), true},
		"Azure":                      {account("azure.workload.identity/client-id: a"), true},
		"by principal":               {authorization("principals: [cluster.local/ns/shop/sa/checkout]"), true},
		"by another trust domain":    {authorization("principals: [td.example/ns/shop/sa/checkout]"), true},
		"by suffix":                  {authorization(`principals: ["*/sa/checkout"]`), true},
		"by prefix":                  {authorization(`principals: ["cluster.local/ns/shop/sa/check*"]`), true},
		"refused by principal":       {authorization("notPrincipals: [cluster.local/ns/shop/sa/checkout]"), true},
		"by account":                 {authorization("serviceAccounts: [shop/checkout]"), true},
		"the namespace":              {authorization(`principals: ["cluster.local/ns/shop/*"]`), false},
		"everybody":                  {authorization(`principals: ["*"]`), false},
		"another":                    {authorization("principals: [cluster.local/ns/shop/sa/cart]"), false},
		"another namespace's":        {authorization("principals: [cluster.local/ns/other/sa/checkout]"), false},
		"that namespace's account":   {authorization("serviceAccounts: [checkout]"), false},
		"Linkerd, by reference":      {linkerd("identityRefs: [{kind: ServiceAccount, name: checkout, namespace: shop}]"), true},
		"Linkerd, by name":           {linkerd("identities: [checkout.shop.serviceaccount.identity.linkerd.cluster.local]"), true},
		"Linkerd, everybody":         {linkerd(`identities: ["*"]`), false},
		"Linkerd, a whole namespace": {linkerd("identityRefs: [{kind: Namespace, name: shop}]"), false},
	} {
		p := made(t, app("", spec, c.object))
		if copied := p.Pod.ServiceAccountName == "checkout"; copied != c.copied || copied != says(p.Left, "rights", "perch's Role is bound to it") {
			t.Errorf("%s: account %q, left %v", name, p.Pod.ServiceAccountName, p.Left)
		}
		if !c.copied && !says(p.Left, "serviceAccountName checkout", "not copied") {
			t.Errorf("%s: %v does not say that the account stays", name, p.Left)
		}
	}
}
