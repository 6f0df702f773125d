package kubefake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is what a client asks.
type request struct {
	verb, resource  string
	group           string
	namespace, name string
	body            []byte
}

func (r request) call() Call { return Call(r.verb + " " + r.resource) }

// ServeHTTP answers as an API server does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, ok := parse(r)
	if !ok {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	var err error
	if asked.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, 3<<20)); err != nil {
		answer(w, nil, apierrors.NewRequestEntityTooLargeError("limit is 3145728"))
		return
	}
	fault := s.noticed(asked.call())
	switch {
	case fault.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case fault.Drop:
		panic(http.ErrAbortHandler)
	case fault.Status != 0:
		fail(w, fault)
		return
	}
	object, refusal := s.handle(asked)
	if fault.Lose {
		panic(http.ErrAbortHandler)
	}
	answer(w, object, refusal)
}

// parse reads /api/v1/namespaces/NAMESPACE/configmaps/NAME and the like.
func parse(r *http.Request) (request, bool) {
	var asked request
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
	if !ok {
		asked.group = "coordination.k8s.io"
		if rest, ok = strings.CutPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/"); !ok {
			return request{}, false
		}
	}
	parts := strings.Split(rest, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return request{}, false
	}
	asked.namespace, asked.resource = parts[0], parts[1]
	if len(parts) == 3 {
		asked.name = parts[2]
	}
	group, known := map[string]string{ConfigMaps: "", Leases: "coordination.k8s.io"}[asked.resource]
	if !known || group != asked.group {
		return request{}, false
	}
	asked.verb = verb(r.Method, asked.name != "", r.URL.Query().Has("watch"))
	return asked, true
}

func verb(method string, named, watch bool) string {
	switch {
	case watch:
		return "watch"
	case method == http.MethodGet && named:
		return "get"
	case method == http.MethodGet:
		return "list"
	}
	return map[string]string{
		http.MethodPut: "update", http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete",
	}[method]
}

// noticed counts a call and returns how it goes wrong.
func (s *Server) noticed(c Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[c]++
	if s.fault == nil {
		return Fault{}
	}
	return s.fault(c)
}

// handle carries a call out.
func (s *Server) handle(asked request) (object any, refusal *apierrors.StatusError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := schema.GroupResource{Group: asked.group, Resource: asked.resource}
	allowed := asked.namespace == s.namespace && asked.name == s.name && (asked.verb == "get" || asked.verb == "update") && !s.refused[asked.call()]
	if !allowed {
		why := fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q",
			"system:serviceaccount:"+s.namespace+":perch", asked.verb, asked.resource, asked.group, asked.namespace)
		return nil, apierrors.NewForbidden(kind, asked.name, errors.New(why))
	}
	if asked.resource == Leases {
		if s.lease == nil {
			return nil, apierrors.NewNotFound(kind, asked.name)
		}
		if asked.verb == "get" {
			return s.lease.DeepCopy(), nil
		}
		return s.updateLease(asked)
	}
	if s.configMap == nil {
		return nil, apierrors.NewNotFound(kind, asked.name)
	}
	if asked.verb == "get" {
		return s.configMap.DeepCopy(), nil
	}
	return s.updateConfigMap(asked)
}

// answer writes an object, or the Status that refuses it.
func answer(w http.ResponseWriter, object any, refusal *apierrors.StatusError) {
	code := http.StatusOK
	if refusal != nil {
		status := refusal.Status()
		status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
		object, code = status, int(status.Code)
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // two known types
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

// fail answers as the parts of a real server do: its overload protection in
// plain text, the rest with a Status.
func fail(w http.ResponseWriter, f Fault) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	switch f.Status {
	case http.StatusTooManyRequests:
		http.Error(w, "Too many requests, please try again later.", f.Status)
	case http.StatusUnauthorized:
		answer(w, nil, apierrors.NewUnauthorized("Unauthorized"))
	case http.StatusInternalServerError:
		answer(w, nil, apierrors.NewInternalError(errors.New("etcdserver: request timed out")))
	default:
		http.Error(w, http.StatusText(f.Status), f.Status)
	}
}
