package state

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

const (
	// callTimeout bounds one call: a healthy API server answers within a second.
	callTimeout = 10 * time.Second
	// patience is how long one thing is tried again while the API server is
	// overloaded, restarting, or somebody else writes.
	patience = 30 * time.Second
)

// api is the little of the Kubernetes API that perch uses: get and update of
// one ConfigMap and one Lease.
type api struct {
	config ConfigMapConfig
	client *http.Client
	core   *rest.RESTClient
	leases *rest.RESTClient
}

func newAPI(c ConfigMapConfig) (*api, error) {
	types := runtime.NewScheme()
	if err := errors.Join(core.AddToScheme(types), coordination.AddToScheme(types)); err != nil {
		return nil, err
	}
	base := rest.CopyConfig(c.Rest)
	base.QPS = -1 // a run makes a handful of calls; the server limits the rest
	base.UserAgent = "perch"
	base.WarningHandler = rest.NoWarnings{} // they would go to stderr, past the log
	base.NegotiatedSerializer = serializer.NewCodecFactory(types).WithoutConversion()
	if err := rest.LoadTLSFiles(base); err != nil { // else a goroutine of client-go's watches them
		return nil, err
	}
	client, err := rest.HTTPClientFor(base)
	if err != nil {
		return nil, err
	}
	a := &api{config: c, client: client}
	if a.core, err = restClient(*base, "/api", core.SchemeGroupVersion, client); err != nil {
		return nil, err
	}
	a.leases, err = restClient(*base, "/apis", coordination.SchemeGroupVersion, client)
	return a, err
}

func restClient(base rest.Config, path string, group schema.GroupVersion, client *http.Client) (*rest.RESTClient, error) {
	base.APIPath, base.GroupVersion = path, &group
	return rest.RESTClientForConfigAndClient(&base, client)
}

func (a *api) close() { a.client.CloseIdleConnections() }

func (a *api) getConfigMap(ctx context.Context) (*core.ConfigMap, error) {
	got := &core.ConfigMap{}
	return got, a.call(ctx, a.core.Get().Resource(resourceConfigMaps), got)
}

// updateConfigMap replaces the object if nobody has changed it since it was
// read, and fails with a conflict otherwise.
func (a *api) updateConfigMap(ctx context.Context, want *core.ConfigMap) (*core.ConfigMap, error) {
	got := &core.ConfigMap{}
	return got, a.call(ctx, a.core.Put().Resource(resourceConfigMaps).Body(want), got)
}

func (a *api) getLease(ctx context.Context) (*coordination.Lease, error) {
	got := &coordination.Lease{}
	return got, a.call(ctx, a.leases.Get().Resource(resourceLeases), got)
}

func (a *api) updateLease(ctx context.Context, want *coordination.Lease) (*coordination.Lease, error) {
	got := &coordination.Lease{}
	return got, a.call(ctx, a.leases.Put().Resource(resourceLeases).Body(want), got)
}

// call makes one call, once: who calls knows what trying again would mean.
func (a *api) call(ctx context.Context, r *rest.Request, into runtime.Object) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("no answer within %s", callTimeout))
	defer cancel()
	err := r.MaxRetries(0).Namespace(a.config.Namespace).Name(a.config.Name).Do(ctx).Into(into)
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return err
}

// answered reports whether err is an answer of the API server's. Else there was
// none: a connection that failed, a timeout.
func answered(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer)
}

// mistrusted reports whether the API server showed a certificate that cannot be
// verified.
func mistrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate)
}

// passing reports whether the same call may succeed a little later.
func passing(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return !mistrusted(err)
	}
	code := answer.Status().Code
	return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError
}

// pauses wait longer and longer between tries, each a little differently, so
// that two perches do not meet again and again.
type pauses struct{ next time.Duration }

// wait pauses after err, at least for as long as the answer asked, and fails
// when ctx ends first.
func (p *pauses) wait(ctx context.Context, err error) error {
	p.next = min(max(2*p.next, 20*time.Millisecond), 2*time.Second)
	pause := p.next/2 + rand.N(p.next)
	if seconds, asked := apierrors.SuggestsClientDelay(err); asked {
		pause += time.Duration(seconds) * time.Second
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errors.Join(err, context.Cause(ctx))
	}
}

// persist makes a call again while it fails in passing.
func persist[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("given up after %s", patience))
	defer cancel()
	var p pauses
	for {
		got, err := call(ctx)
		if err == nil || !passing(err) {
			return got, err
		}
		if err := p.wait(ctx, err); err != nil {
			return got, err
		}
	}
}
