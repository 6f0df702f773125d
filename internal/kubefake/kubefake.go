// Package kubefake is as much of a Kubernetes API server as perch's state meets:
// one ConfigMap and one Lease that may be read and updated, and nothing else. It
// answers with a real server's objects, conflicts and refusals, and fails where
// a test says so.
package kubefake

import (
	"maps"
	"strconv"
	"sync"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The two kinds.
const (
	ConfigMaps = "configmaps"
	Leases     = "leases"
)

// Call names what was asked: a verb as RBAC has it (get, update, list, watch,
// create, patch, delete) and a kind in the plural: "list configmaps".
type Call string

// The calls that are allowed.
const (
	GetConfigMap    Call = "get " + ConfigMaps
	UpdateConfigMap Call = "update " + ConfigMaps
	GetLease        Call = "get " + Leases
	UpdateLease     Call = "update " + Leases
)

// Fault is how a call goes wrong. The zero value is none.
type Fault struct {
	Status     int    // answer with this status, and do nothing
	RetryAfter string // the header's value, with Status; empty: none
	Drop       bool   // close the connection, and do nothing
	Lose       bool   // do what was asked, then close the connection without an answer
	Hang       bool   // do nothing, and answer nothing until the client gives up
}

// Server is an http.Handler. It is safe for use by several goroutines.
type Server struct {
	namespace, name string

	mu        sync.Mutex
	version   int
	configMap *core.ConfigMap     // nil: does not exist
	lease     *coordination.Lease // nil: does not exist
	calls     map[Call]int
	fault     func(Call) Fault // nil: none
	refused   map[Call]bool
}

// New returns a server on which the ConfigMap and the Lease exist, empty, as a
// manifest creates them, and of which the client may get and update both.
func New(namespace, name string) *Server {
	s := &Server{namespace: namespace, name: name, calls: map[Call]int{}, refused: map[Call]bool{}}
	s.configMap = &core.ConfigMap{
		TypeMeta:   meta.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: s.newMeta("0d0f6f0e-5a3c-4c55-9d0a-1f1f5c9b7a01"),
	}
	s.lease = &coordination.Lease{
		TypeMeta:   meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"},
		ObjectMeta: s.newMeta("0d0f6f0e-5a3c-4c55-9d0a-1f1f5c9b7a02"),
	}
	return s
}

func (s *Server) newMeta(uid types.UID) meta.ObjectMeta {
	return meta.ObjectMeta{Namespace: s.namespace, Name: s.name, UID: uid, ResourceVersion: s.nextVersion()}
}

func (s *Server) nextVersion() string {
	s.version++
	return strconv.Itoa(s.version)
}

// SetFault says how each later call goes wrong; nil: none does. It is asked
// once a call, one call at a time, and must not call the server.
func (s *Server) SetFault(fault func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Refuse takes the right to a call away, as a Role without that verb does.
func (s *Server) Refuse(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[c] = true
}

// Remove deletes the object of a kind.
func (s *Server) Remove(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if resource == Leases {
		s.lease = nil
		return
	}
	s.configMap = nil
}

// Calls returns how often each call was made, failed ones included.
func (s *Server) Calls() map[Call]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// ConfigMap returns a copy of the object as it stands.
func (s *Server) ConfigMap() *core.ConfigMap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configMap.DeepCopy()
}

// Lease returns a copy of the object as it stands.
func (s *Server) Lease() *coordination.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.DeepCopy()
}

// EditConfigMap changes the object as somebody else would: with kubectl edit.
func (s *Server) EditConfigMap(change func(*core.ConfigMap)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.configMap)
	s.configMap.ResourceVersion = s.nextVersion()
}

// EditLease changes the object as somebody else would.
func (s *Server) EditLease(change func(*coordination.Lease)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.lease)
	s.lease.ResourceVersion = s.nextVersion()
}
