package state

import (
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

	"perch.example/internal/kubefake"
)

// What a real API server was seen to do.

// An update of a Lease that somebody deleted is a conflict, each time: its uid is
// not there any more. That is said at once, not tried again.
func TestALeaseIsDeletedInARun(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		fake.Remove(kubefake.Leases)
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			if c == kubefake.UpdateLease {
				return kubefake.Fault{Status: 409}
			}
			return kubefake.Fault{}
		})
		start := time.Now()
		must(t, run.Save(t.Context(), d))
		for doing, err := range map[string]error{
			"reserving": run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 1}}),
			"unlocking": run.Close(t.Context()),
		} {
			if err == nil || !strings.Contains(err.Error(), doing) || !strings.Contains(err.Error(), `"kind":"Lease"`) {
				t.Errorf("%s: %v, want what to apply", doing, err)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %s to say so", took)
		}
	})
}

// A certificate does not get better by asking again, and no NetworkPolicy is to
// blame.
func TestACertificateOfAnotherAuthority(t *testing.T) {
	fake := kubefake.New("shop", "perch-state")
	server := httptest.NewUnstartedServer(fake)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it says so too
	server.StartTLS()
	t.Cleanup(server.Close)
	file := write(t, filepath.Join(t.TempDir(), "config"), string(fake.Kubeconfig(server.URL)))
	c, err := Cluster("perch-state", environment(map[string]string{"KUBECONFIG": file}))
	must(t, err)
	start := time.Now()
	_, err = OpenConfigMap(t.Context(), c, Options{})
	if err == nil || !strings.Contains(err.Error(), "certificate-authority") || strings.Contains(err.Error(), "NetworkPolicy") {
		t.Errorf("opening: %v, want what to look at", err)
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("it took %s to say so", took)
	}
}

// Whoever looks at a state that is damaged is told which one.
func TestLookingAtADamagedState(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		s.put([]byte{0x1f, 0x8b, 8})
		if _, err := s.read(t.Context()); err == nil || !strings.Contains(err.Error(), s.path) || !strings.Contains(err.Error(), "unpacking") {
			t.Errorf("reading: %v, want the state's name and what is wrong", err)
		}
	})
}

// The bound is for all keys together: what others keep in the same object leaves
// less room, and a document that fits into that is saved.
func TestOthersLeaveLittleRoom(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		must(t, run.Save(t.Context(), d))
		fake.EditConfigMap(func(c *core.ConfigMap) {
			c.Data = map[string]string{"notes": strings.Repeat("x", maxValues-200<<10)}
			c.BinaryData["picture"] = make([]byte, 100<<10)
		})
		d.SetSection("alert", noise(300<<10))
		err := run.Save(t.Context(), d)
		var large *TooLargeError
		if !errors.As(err, &large) || large.Limit != 100<<10 || !strings.Contains(err.Error(), "(notes, picture)") {
			t.Errorf("saving too much: %v, want a TooLargeError that says who takes the room", err)
		}
		d.SetSection("alert", noise(60<<10))
		must(t, run.Save(t.Context(), d))
		if c := fake.ConfigMap(); len(c.Data) != 1 || len(c.BinaryData["picture"]) == 0 {
			t.Error("what others keep there is gone")
		}
		must(t, run.Close(t.Context()))
	})
}
