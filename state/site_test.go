package state

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"perch.example/internal/kubefake"
)

// store is what a run has of either store.
type store interface {
	Load(context.Context) (Document, error)
	Reserve(context.Context, Reservation) error
	Save(context.Context, Document) error
	Warning() string
	Close(context.Context) error
}

// site is a place where a document is kept, and what a test does to it.
type site struct {
	path  string
	open  func(context.Context, Options) (store, error)
	edit  func(context.Context, func(*Document) error) error
	read  func(context.Context) (Document, error)
	put   func([]byte)        // what stands there from now on, by another hand; nil: nothing
	stand func(string) []byte // what stands there, or is kept aside under a name
	crash func(store)         // its process dies
}

func fileSite(t *testing.T) site {
	path := filepath.Join(t.TempDir(), "state")
	return site{
		path: path,
		open: func(_ context.Context, o Options) (store, error) {
			f, err := OpenFile(path, o)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		edit: func(ctx context.Context, change func(*Document) error) error {
			return EditFile(ctx, path, Options{}, change)
		},
		read: func(context.Context) (Document, error) { return ReadFile(path) },
		put: func(content []byte) {
			err := os.WriteFile(path, content, 0o600)
			if content == nil {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		stand: func(name string) []byte {
			if name == "" {
				name = path
			}
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			return content
		},
		crash: func(s store) {
			f := s.(*File)
			if err := f.lock.file.Close(); err != nil { // as the kernel closes it
				t.Fatal(err)
			}
			f.lock = nil
		},
	}
}

// fakeConfig reaches a fake API server.
func fakeConfig(fake *kubefake.Server, identity string) ConfigMapConfig {
	return ConfigMapConfig{
		Name: "perch-state", Namespace: "shop", Identity: identity,
		Rest: &rest.Config{Host: "http://fake", Transport: fake.Transport()},
	}
}

func configMapSite(*testing.T) site {
	return siteOf(kubefake.New("shop", "perch-state"))
}

func siteOf(fake *kubefake.Server) site {
	c := fakeConfig(fake, "pod-a")
	return site{
		path: "configmap shop/perch-state",
		open: opener(c),
		edit: func(ctx context.Context, change func(*Document) error) error {
			return EditConfigMap(ctx, c, Options{}, change)
		},
		read: func(ctx context.Context) (Document, error) { return ReadConfigMap(ctx, c) },
		put: func(content []byte) {
			fake.EditConfigMap(func(m *core.ConfigMap) {
				if content == nil {
					delete(m.BinaryData, stateKey)
					return
				}
				if m.BinaryData == nil {
					m.BinaryData = map[string][]byte{}
				}
				m.BinaryData[stateKey] = content
			})
		},
		stand: func(name string) []byte {
			if name == "" {
				name = stateKey
			}
			return fake.ConfigMap().BinaryData[name]
		},
		crash: func(s store) {
			m := s.(*ConfigMap)
			m.lease.stop()
			<-m.lease.done
			m.lease = nil
		},
	}
}

func opener(c ConfigMapConfig) func(context.Context, Options) (store, error) {
	return func(ctx context.Context, o Options) (store, error) {
		m, err := OpenConfigMap(ctx, c, o)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

// conform runs a test against both stores, each in a bubble.
func conform(t *testing.T, test func(*testing.T, site)) {
	t.Helper()
	for name, newSite := range map[string]func(*testing.T) site{"file": fileSite, "configmap": configMapSite} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newSite(t)) })
		})
	}
}

func (s site) mustOpen(t *testing.T) store {
	t.Helper()
	opened, err := s.open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// begin opens and loads.
func (s site) begin(t *testing.T) (store, Document) {
	t.Helper()
	opened := s.mustOpen(t)
	d, err := opened.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return opened, d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
