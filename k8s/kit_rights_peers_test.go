//go:build peers

package k8s

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"testing"

	authorization "k8s.io/api/authorization/v1"
)

// mayNothingElse: the token of perch's account reads and updates the state's
// objects by name, and is refused everything else.
func (k *kit) mayNothingElse(t *testing.T, namespace, account string) {
	t.Helper()
	token, names := k.cluster.Token(namespace, account), k.leases(namespace)
	verbs := []string{"get", "update"}
	want := []authorization.ResourceRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: names, Verbs: verbs},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: names, Verbs: verbs},
	}
	core, leases := "/api/v1/namespaces/"+namespace, "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases"
	if len(names) == 0 { // the state is in a file
		want, names = []authorization.ResourceRule{}, []string{"perch-state"}
	} else {
		for _, path := range []string{core + "/configmaps/" + names[0], leases + "/" + names[0]} {
			if status, answer := k.cluster.Request(token, http.MethodGet, path, ""); status != http.StatusOK {
				t.Errorf("GET %s: %d %s", path, status, answer)
			}
		}
	}
	if got := k.rules(t, namespace, token); !reflect.DeepEqual(got, want) {
		t.Errorf("the token's rules are %+v, want %+v", got, want)
	}
	for _, try := range []struct{ method, path string }{
		{"GET", core + "/configmaps"}, {"GET", core + "/configmaps?watch=true"}, {"POST", core + "/configmaps"},
		{"GET", core + "/configmaps/perch"}, {"PUT", core + "/configmaps/perch"}, {"GET", core + "/configmaps/kube-root-ca.crt"},
		{"DELETE", core + "/configmaps/" + names[0]}, {"PATCH", core + "/configmaps/" + names[0]}, {"DELETE", core + "/configmaps"},
		{"GET", leases}, {"POST", leases}, {"DELETE", leases + "/" + names[0]}, {"PATCH", leases + "/" + names[0]}, {"GET", leases + "/other"},
		{"GET", core + "/secrets"}, {"GET", core + "/secrets/perch"}, {"GET", core + "/pods"}, {"POST", core + "/pods"},
		{"GET", core + "/serviceaccounts/" + account}, {"POST", core + "/serviceaccounts/" + account + "/token"},
		{"GET", "/apis/batch/v1/namespaces/" + namespace + "/cronjobs"}, {"GET", "/apis/batch/v1/namespaces/" + namespace + "/jobs"},
		{"GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace + "/roles"},
		{"GET", "/api/v1/namespaces/default/configmaps/" + names[0]}, {"GET", "/api/v1/configmaps"}, {"GET", "/api/v1/namespaces"}, {"GET", "/api/v1/nodes"},
	} {
		if status, answer := k.cluster.Request(token, try.method, try.path, "{}"); status != http.StatusForbidden {
			t.Errorf("%s %s: %d, want 403: %s", try.method, try.path, status, answer)
		}
	}
}

// rules are what the server says that a token may do with resources, without
// what it lets everybody do.
func (k *kit) rules(t *testing.T, namespace, token string) []authorization.ResourceRule {
	t.Helper()
	const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
	review, err := json.Marshal(authorization.SelfSubjectRulesReview{Spec: authorization.SelfSubjectRulesReviewSpec{Namespace: namespace}})
	if err != nil {
		t.Fatal(err)
	}
	var of [2]authorization.SelfSubjectRulesReview
	for i, token := range []string{token, k.cluster.Token(namespace, "default")} {
		status, answer := k.cluster.Request(token, http.MethodPost, path, string(review))
		if err := json.Unmarshal([]byte(answer), &of[i]); err != nil || status != http.StatusCreated {
			t.Fatalf("%d %s (%v)", status, answer, err)
		}
	}
	return slices.DeleteFunc(of[0].Status.ResourceRules, func(r authorization.ResourceRule) bool {
		return slices.ContainsFunc(of[1].Status.ResourceRules, func(any authorization.ResourceRule) bool { return reflect.DeepEqual(r, any) })
	})
}
