//go:build peers

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"perch.example/internal/kubefake"
	"perch.example/state"
)

// fileStore is a state in a file.
type fileStore struct {
	path string
	held *state.File
}

// newFileStore is in the machine's memory, where there is such a folder: a disk
// would make the week three times as long, by its fsyncs.
func newFileStore(t *testing.T) *fileStore {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "perch-week-")
	if err != nil {
		return &fileStore{path: filepath.Join(t.TempDir(), "state")}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return &fileStore{path: filepath.Join(folder, "state")}
}

func (s *fileStore) open(context.Context) (keeper, error) {
	var err error
	s.held, err = state.OpenFile(s.path, stateOptions())
	return s.held, err
}

// dies gives the lock back, as the kernel does for a process that is gone.
func (s *fileStore) dies() {
	if s.held != nil {
		_ = s.held.Close(context.Background())
	}
}

// spoil leaves half of what stands there, as a disk that was full.
func (s *fileStore) spoil() {
	content, err := os.ReadFile(s.path)
	if err == nil {
		err = os.WriteFile(s.path, content[:len(content)/2], 0o600)
	}
	if err != nil {
		panic(err)
	}
}

func (s *fileStore) edit(ctx context.Context, how func(*state.Document) error) error {
	return state.EditFile(ctx, s.path, stateOptions(), how)
}

func (*fileStore) disturb(*rand.Rand) {}

// kubeStore is a state in a ConfigMap.
type kubeStore struct {
	server *kubefake.Server
	held   *state.ConfigMap
	wire   *cable
}

// cable is a process's way to the API server: with the process it is gone.
type cable struct {
	base http.RoundTripper
	gone atomic.Bool
}

func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.gone.Load() {
		return nil, errors.New("the process is gone")
	}
	return c.base.RoundTrip(r)
}

func newKubeStore() *kubeStore { return &kubeStore{server: kubefake.New("shop", "perch-state")} }

func (s *kubeStore) config(wire http.RoundTripper) state.ConfigMapConfig {
	return state.ConfigMapConfig{
		Name: "perch-state", Namespace: "shop", Identity: "perch", Rest: &rest.Config{Host: "https://kubernetes.example", Transport: wire},
	}
}

func (s *kubeStore) open(ctx context.Context) (keeper, error) {
	s.wire = &cable{base: s.server.Transport()}
	var err error
	s.held, err = state.OpenConfigMap(ctx, s.config(s.wire), stateOptions())
	if err != nil {
		s.held = nil
	}
	return s.held, err
}

// dies takes the process's connection away, so that its Lease runs out.
func (s *kubeStore) dies() {
	if s.held == nil {
		return
	}
	s.wire.gone.Store(true)
	_ = s.held.Close(context.Background())
}

func (s *kubeStore) spoil() {
	s.server.EditConfigMap(func(c *core.ConfigMap) { c.BinaryData["state"] = []byte("no document") })
}

func (s *kubeStore) edit(ctx context.Context, how func(*state.Document) error) error {
	return state.EditConfigMap(ctx, s.config(s.server.Transport()), stateOptions(), how)
}

// disturb lets the API server fail now and then: before it does what it is
// asked for, and after. The Lease is renewed beside the run, in no certain order:
// its calls must not draw, or no week could be lived again.
func (s *kubeStore) disturb(dice *rand.Rand) {
	s.server.SetFault(func(c kubefake.Call) kubefake.Fault {
		if c != kubefake.GetConfigMap && c != kubefake.UpdateConfigMap {
			return kubefake.Fault{}
		}
		switch dice.IntN(100) {
		case 0:
			return kubefake.Fault{Status: http.StatusInternalServerError}
		case 1:
			return kubefake.Fault{Status: http.StatusTooManyRequests, RetryAfter: "1"}
		case 2:
			return kubefake.Fault{Lose: true}
		case 3:
			return kubefake.Fault{Drop: true}
		}
		return kubefake.Fault{}
	})
}
