package like

import (
	"strings"
	"testing"
)

// TestACredentialIsNotCloned: it would stand in another manifest.
func TestACredentialIsNotCloned(t *testing.T) {
	const filter = `{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: auth, namespace: shop}, spec: {workloadSelector: {labels: {app: checkout}}, configPatches: [
		{applyTo: HTTP_FILTER, patch: {operation: INSERT_BEFORE, value: %s}}]}}`
	for value, cloned := range map[string]bool{
		`{inlineCode: 'h:add("authorization","Bearer hunter2")'}`:                                false,
		`{inlineCode: 'h:add("x-api-key","hunter2")'}`:                                           false,
		`{typed_config: {password: hunter2}}`:                                                    false,
		`{uri: "https://me:hunter2@idp.example"}`:                                                false,
		`{header: {key: x-partner-token, value: hunter2}}`:                                       false,
		`{header: {key: x-partner, value: stock}}`:                                               true,
		`{cluster: {authority: "token.example:443", path: /secret}}`:                             true,
		`{name: envoy.filters.http.local_ratelimit, token_bucket: {max_tokens: 4}}`:              true,
		`{typed_config: {"@type": type.googleapis.com/envoy.v3.Cluster, connect_timeout: 900s}}`: true,
	} {
		p := made(t, app("", "", of(filter, value)))
		if (len(p.Policies) == 1) != cloned || says(p.Left, "EnvoyFilter shop/auth", "let it select perch.example/path=perch") == cloned || strings.Contains(string(shown(t, p)), "hunter2") {
			t.Errorf("%s: clones %v, left %v", value, p.Policies, p.Left)
		}
	}
}

// TestWordsOfCredentialsAreNone: hosts, labels, names and files are cloned.
func TestWordsOfCredentialsAreNone(t *testing.T) {
	for name, object := range map[string]string{
		"Cilium": `{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: checkout}}, egress: [
			{toEndpoints: [{matchExpressions: [{key: app, operator: In, values: [auth-token]}], matchLabels: {token: "yes"}}]},
			{toFQDNs: [{matchName: secretsmanager.eu-central-1.amazonaws.com}, {matchPattern: "*.auth.example"}]}]}}`,
		"Istio": `{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: a, namespace: shop}, spec: {host: token.example, workloadSelector: {matchLabels: {app: checkout}},
			trafficPolicy: {tls: {mode: MUTUAL, privateKey: /etc/certs/key.pem, credentialName: client-cert, sni: secret.example}, connectionPool: {tcp: {idleTimeout: 900s}}}}}`,
	} {
		if p := made(t, app("", "", object)); len(p.Policies) != 1 {
			t.Errorf("%s: not cloned, left %v", name, p.Left)
		}
	}
}
