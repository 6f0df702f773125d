package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	core "k8s.io/api/core/v1"

	"perch.example/internal/kubefake"
)

// bubble gives a test a fake API server, fake time, and a store's site on it.
func bubble(t *testing.T, test func(*testing.T, *kubefake.Server, site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := kubefake.New("shop", "perch-state")
		test(t, fake, siteOf(fake))
	})
}

// A run writes the ConfigMap once, and once more before it sends notices, and
// looks after each whether it has the Lease; both objects are only read and updated.
func TestCallsOfARun(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		now := time.Now()
		run, d := s.begin(t)
		must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 10}, Now: now, Last: now}))
		time.Sleep(65 * time.Second) // six renewals
		d.AddRequests("api", now, 3)
		must(t, run.Save(t.Context(), d))
		must(t, run.Close(t.Context()))
		want := map[kubefake.Call]int{kubefake.GetConfigMap: 1, kubefake.UpdateConfigMap: 1, kubefake.GetLease: 1 + 1, kubefake.UpdateLease: 1 + 1 + 6 + 1}
		if got := fake.Calls(); !maps.Equal(got, want) {
			t.Errorf("a run made %v, want %v", got, want)
		}
	})
}

// An update whose answer is lost was carried out, or not: either way each
// request is counted once.
func TestALostAnswerCountsNothingTwice(t *testing.T) {
	for name, fault := range map[string]kubefake.Fault{
		"carried out": {Lose: true}, "not carried out": {Drop: true}, "hanging": {Hang: true}, "bad gateway": {Status: 502},
		"overloaded": {Status: 429, RetryAfter: "3"}, "overloaded, says not for how long": {Status: 429}, "etcd is slow": {Status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
				run, d := s.begin(t)
				now, failing := time.Now(), 2
				d.AddRequests("api", now, 3)
				fake.SetFault(func(c kubefake.Call) kubefake.Fault {
					if c != kubefake.UpdateConfigMap || failing == 0 {
						return kubefake.Fault{}
					}
					failing--
					return fault
				})
				must(t, run.Save(t.Context(), d))
				if fault.RetryAfter != "" && time.Since(now) < 6*time.Second {
					t.Errorf("asked twice to wait for 3 s, it took %s", time.Since(now))
				}
				d.AddRequests("api", now, 4)
				must(t, run.Save(t.Context(), d))
				if got, err := s.read(t.Context()); err != nil || got.RequestsToday("api", now) != 7 {
					t.Errorf("%d requests are counted (%v), want 7", got.RequestsToday("api", now), err)
				}
			})
		})
	}
}

// The answer is lost, and somebody else writes on top before it is looked for.
func TestALostAnswerAndAnEditOnTop(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		now, lost := time.Now(), false
		d.AddRequests("api", now, 3)
		edited := make(chan error, 1)
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			if c != kubefake.UpdateConfigMap || lost {
				return kubefake.Fault{}
			}
			lost = true
			go func() {
				edited <- s.edit(context.Background(), func(d *Document) error { d.AddRequests("api", now, 10); return nil })
			}()
			return kubefake.Fault{Lose: true}
		})
		must(t, run.Save(t.Context(), d))
		must(t, <-edited)
		if got, err := s.read(t.Context()); err != nil || got.RequestsToday("api", now) != 13 {
			t.Errorf("%d requests are counted (%v), want 13", got.RequestsToday("api", now), err)
		}
	})
}

func TestTheAPIServerStaysAway(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		fake.SetFault(func(kubefake.Call) kubefake.Fault { return kubefake.Fault{Drop: true} })
		start := time.Now()
		err := run.Save(t.Context(), d)
		if err == nil || !strings.Contains(err.Error(), "NO_PROXY") || time.Since(start) > patience+callTimeout {
			t.Errorf("saving: %v after %s, want an error that says what to look for, within %s", err, time.Since(start), patience)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start = time.Now()
		if err := run.Save(ctx, d); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 4*time.Second {
			t.Errorf("saving within 3 s: %v after %s", err, time.Since(start))
		}
		fake.SetFault(nil)
		if err := run.Save(t.Context(), d); err != nil {
			t.Errorf("saving once it is back: %v", err)
		}
	})
}

// What is missing is said with what to apply.
func TestWhatToApply(t *testing.T) {
	role := "kubectl -n shop create role perch-state --verb=get,update --resource=configmaps,leases.coordination.k8s.io --resource-name=perch-state"
	tests := []struct {
		name  string
		spoil func(*kubefake.Server)
		want  []string
	}{
		{"no ConfigMap", func(f *kubefake.Server) { f.Remove(kubefake.ConfigMaps) }, []string{"kubectl -n shop create configmap perch-state"}},
		{"no Lease", func(f *kubefake.Server) { f.Remove(kubefake.Leases) }, []string{
			`echo '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"perch-state","namespace":"shop"}}' | kubectl apply -f -`}},
		{"may not get the Lease", func(f *kubefake.Server) { f.Refuse(kubefake.GetLease) }, []string{role, "system:serviceaccount:shop:perch"}},
		{"may not update the Lease", func(f *kubefake.Server) { f.Refuse(kubefake.UpdateLease) }, []string{role}},
		{"may not get the ConfigMap", func(f *kubefake.Server) { f.Refuse(kubefake.GetConfigMap) }, []string{role}},
		{"may not update the ConfigMap", func(f *kubefake.Server) { f.Refuse(kubefake.UpdateConfigMap) }, []string{role}},
		{"not known", func(f *kubefake.Server) {
			f.SetFault(func(kubefake.Call) kubefake.Fault { return kubefake.Fault{Status: 401} })
		}, []string{"does not take perch's credentials"}},
		{"immutable", func(f *kubefake.Server) {
			yes := true
			f.EditConfigMap(func(c *core.ConfigMap) { c.Immutable = &yes })
		}, []string{"immutable: delete it"}},
		{"an application's ConfigMap", func(f *kubefake.Server) {
			f.EditConfigMap(func(c *core.ConfigMap) { c.Data = map[string]string{"perch.yaml": "version: 1"} })
		}, []string{"holds other things (perch.yaml)", "give state.configmap a ConfigMap of its own"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
				tt.spoil(fake)
				start := time.Now()
				err := aRun(t.Context(), s)
				for _, want := range tt.want {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("a run: %v\nwant %s", err, want)
					}
				}
				if time.Since(start) > 0 {
					t.Errorf("it tried again for %s what cannot succeed", time.Since(start))
				}
				if calls := fake.Calls(); len(calls) > 4 {
					t.Errorf("it made other calls: %v", calls)
				}
			})
		})
	}
}

// aRun goes through a run's steps until one fails.
func aRun(ctx context.Context, s site) (err error) {
	run, err := s.open(ctx, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close(ctx)) }()
	d, err := run.Load(ctx)
	if err != nil {
		return err
	}
	return run.Save(ctx, d)
}

func TestOtherKeysStay(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		must(t, run.Save(t.Context(), d))
		fake.EditConfigMap(func(c *core.ConfigMap) {
			c.Data = map[string]string{"note": "hands off"}
			c.Labels = map[string]string{"team": "stock"}
			c.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
		})
		for range keepWrites + 4 {
			must(t, run.Save(t.Context(), d))
		}
		c := fake.ConfigMap()
		if c.Data["note"] == "" || c.Labels["team"] == "" || len(c.Annotations) != 2 {
			t.Errorf("what others wrote is gone: %+v", c)
		}
		if writes := strings.Split(c.Annotations[writesKey], ","); len(writes) != keepWrites {
			t.Errorf("%d writes are named, want the last %d", len(writes), keepWrites)
		}
	})
}

func TestOnlyTwoCopiesAreKeptAside(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		var names []string
		for n := range 4 {
			s.put([]byte(fmt.Sprint("rubbish ", n)))
			run := s.mustOpen(t)
			_, err := run.Load(t.Context())
			var aside *AsideError
			if !errors.As(err, &aside) {
				t.Fatalf("loading: %v", err)
			}
			names = append(names, aside.Aside)
			if n < 2 && aside.GivenUp != "" || n >= 2 && (aside.GivenUp != names[n-2] || !strings.Contains(err.Error(), names[n-2])) {
				t.Errorf("copy %d: %v", n, err)
			}
			must(t, run.Save(t.Context(), full()))
			must(t, run.Close(t.Context()))
			time.Sleep(time.Second)
		}
		c := fake.ConfigMap()
		if len(c.BinaryData) != 3 || string(c.BinaryData[names[2]]) != "rubbish 2" || string(c.BinaryData[names[3]]) != "rubbish 3" {
			t.Errorf("kept are %v of %v", slices.Sorted(maps.Keys(c.BinaryData)), names)
		}
	})
}

// A copy that is kept aside never keeps a document from being saved.
func TestCopiesGiveWay(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		s.put(bytes.Repeat([]byte("x"), 800<<10))
		run := s.mustOpen(t)
		d, err := run.Load(t.Context())
		var aside *AsideError
		if !errors.As(err, &aside) {
			t.Fatalf("loading: %v", err)
		}
		must(t, run.Save(t.Context(), d))
		if fake.ConfigMap().BinaryData[aside.Aside] == nil || run.Warning() != "" {
			t.Errorf("there is room, and it was not kept: %s", run.Warning())
		}
		d.SetSection("alert", noise(700<<10))
		must(t, run.Save(t.Context(), d))
		if fake.ConfigMap().BinaryData[aside.Aside] != nil || !strings.Contains(run.Warning(), aside.Aside) || !strings.Contains(run.Warning(), `section "alert"`) {
			t.Errorf("there is no room, and it was kept, or not said: %s", run.Warning())
		}
		d.SetSection("alert", nil)
		must(t, run.Save(t.Context(), d))
		if run.Warning() != "" {
			t.Errorf("small again, and still warned of: %s", run.Warning())
		}
	})
}

func TestSectionsAreJoinedByTheirOwners(t *testing.T) {
	join := func(base, mine, theirs json.RawMessage) (json.RawMessage, error) {
		if base != nil {
			return nil, errors.New("cannot be joined")
		}
		return json.Marshal([]json.RawMessage{mine, theirs})
	}
	bubble(t, func(t *testing.T, _ *kubefake.Server, s site) {
		run, err := s.open(t.Context(), Options{Merge: map[string]Merge{"alert": join}})
		must(t, err)
		t.Cleanup(func() { must(t, run.Close(context.Background())) })
		d, err := run.Load(t.Context())
		must(t, err)
		edit := func(content string) {
			must(t, s.edit(t.Context(), func(d *Document) error { d.SetSection("alert", json.RawMessage(content)); return nil }))
		}
		edit("1")
		d.SetSection("alert", json.RawMessage("2"))
		must(t, run.Save(t.Context(), d))
		if got, err := s.read(t.Context()); err != nil || string(got.Sections["alert"]) != "[2,1]" {
			t.Errorf("joined to %s, %v", got.Sections["alert"], err)
		}
		edit("3")
		d.SetSection("alert", json.RawMessage("4"))
		if err := run.Save(t.Context(), d); err == nil || !strings.Contains(err.Error(), `joining section "alert"`) {
			t.Errorf("saving what cannot be joined: %v", err)
		}
		if got, err := s.read(t.Context()); err != nil || string(got.Sections["alert"]) != "3" {
			t.Errorf("what stands was replaced: %s, %v", got.Sections["alert"], err)
		}
	})
}

// Many writers on top of an update whose answer is lost: it is still found.
func TestALostAnswerInAStorm(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		now, lost := time.Now(), false
		d.AddRequests("api", now, 3)
		edited := make(chan error, 1)
		const edits = 60
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			if c != kubefake.UpdateConfigMap || lost {
				return kubefake.Fault{}
			}
			lost = true
			go func() {
				var err error
				for range edits {
					err = errors.Join(err, s.edit(context.Background(), func(d *Document) error { d.AddRequests("api", now, 1); return nil }))
				}
				edited <- err
			}()
			return kubefake.Fault{Lose: true}
		})
		must(t, run.Save(t.Context(), d))
		must(t, <-edited)
		if got, err := s.read(t.Context()); err != nil || got.RequestsToday("api", now) != 3+edits {
			t.Errorf("%d requests are counted (%v), want %d", got.RequestsToday("api", now), err, 3+edits)
		}
	})
}

// What cannot be used is kept under the name that was said, whatever conflicts
// came between, and said once.
func TestOneNameForWhatIsKeptAside(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		rubbish := []byte("\x1f\x8brubbish")
		s.put(rubbish)
		run := s.mustOpen(t)
		_, err := run.Load(t.Context())
		var aside *AsideError
		if !errors.As(err, &aside) {
			t.Fatalf("loading: %v, want an AsideError", err)
		}
		conflicts := 3
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			if c != kubefake.UpdateConfigMap || conflicts == 0 {
				return kubefake.Fault{}
			}
			conflicts--
			return kubefake.Fault{Status: 429, RetryAfter: "2"} // a later second, each time
		})
		must(t, run.Save(t.Context(), full()))
		if c := fake.ConfigMap(); len(c.BinaryData) != 2 || !bytes.Equal(c.BinaryData[aside.Aside], rubbish) {
			t.Errorf("kept are %v, and %q was said", slices.Sorted(maps.Keys(c.BinaryData)), aside.Aside)
		}
		// Damaged in the middle of the run, and conflicts again: one name, said once.
		s.put(rubbish)
		conflicts = 3
		first := aside.Aside
		err = run.Save(t.Context(), full())
		if !errors.As(err, &aside) || aside.Aside == first || strings.Count(err.Error(), "it is kept as") != 1 {
			t.Errorf("saving: %v, want one AsideError with a new name", err)
		}
		if c := fake.ConfigMap(); len(c.BinaryData) != 3 || !bytes.Equal(c.BinaryData[aside.Aside], rubbish) {
			t.Errorf("kept are %v, and %q was said", slices.Sorted(maps.Keys(c.BinaryData)), aside.Aside)
		}
	})
}
