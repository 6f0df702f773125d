package state

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	resourceConfigMaps = "configmaps"
	resourceLeases     = "leases"
)

// AbsentError says that from here there is no state: a kubeconfig leads to no
// cluster that answers, or the cluster has no such object.
type AbsentError struct{ Err error }

func (e *AbsentError) Error() string { return e.Err.Error() }

func (e *AbsentError) Unwrap() error { return e.Err }

// explain says what to do about a call that failed.
func (c ConfigMapConfig) explain(doing, resource string, err error) error {
	var lost *LostError
	if errors.As(err, &lost) {
		return fmt.Errorf("%s state %q: %w", doing, c.path(), err)
	}
	kind := "ConfigMap"
	if resource == resourceLeases {
		kind = "Lease"
	}
	what := fmt.Sprintf("%s state %q: the %s %q", doing, c.path(), kind, c.Name)
	switch {
	case apierrors.IsNotFound(err):
		return &AbsentError{fmt.Errorf("%s does not exist in namespace %q, and perch may not create it; apply it empty, once: %s: %w", what, c.Namespace, c.creation(resource), err)}
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s may not be read and written; perch needs a Role with get and update on both: %s, bound to its service account (docs/state.md): %w", what, c.role(), err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s cannot be reached: the API server does not take perch's credentials; log in again, or see that the Pod's token is mounted: %w", what, err)
	case mistrusted(err):
		return fmt.Errorf("%s cannot be reached: the API server's certificate cannot be verified; see the kubeconfig's certificate-authority, or the Pod's ca.crt, and whether something on the way ends TLS: %w", what, err)
	case !answered(err) && !c.inPod:
		return &AbsentError{fmt.Errorf("%s cannot be reached: is the kubeconfig's server right, and does the proxy of the environment (HTTPS_PROXY, NO_PROXY) lead there? %w", what, err)}
	case !answered(err):
		return fmt.Errorf("%s cannot be reached: does a NetworkPolicy let perch reach the API server (ports 443 and 6443)? %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (c ConfigMapConfig) creation(resource string) string {
	if resource == resourceConfigMaps {
		return fmt.Sprintf("kubectl -n %s create configmap %s", c.Namespace, c.Name)
	}
	return fmt.Sprintf(`echo '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q,"namespace":%q}}' | kubectl apply -f -`, c.Name, c.Namespace)
}

func (c ConfigMapConfig) role() string {
	return fmt.Sprintf("kubectl -n %s create role %s --verb=get,update --resource=configmaps,leases.coordination.k8s.io --resource-name=%s", c.Namespace, c.Name, c.Name)
}
