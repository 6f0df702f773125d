package kubefake

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxValues is the API server's bound on a ConfigMap's values together.
const maxValues = 1 << 20

// updateConfigMap replaces the object. Without a resourceVersion it does so
// whatever stands there, as a real server does for this kind.
func (s *Server) updateConfigMap(asked request) (any, *apierrors.StatusError) {
	var want core.ConfigMap
	if err := json.Unmarshal(asked.body, &want); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if refusal := s.checkMeta(asked, want.ObjectMeta, s.configMap.ObjectMeta); refusal != nil {
		return nil, refusal
	}
	if problems := s.checkConfigMap(want); len(problems) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, asked.name, problems)
	}
	want.TypeMeta, want.UID, want.ResourceVersion = s.configMap.TypeMeta, s.configMap.UID, s.configMap.ResourceVersion
	if !reflect.DeepEqual(&want, s.configMap) { // an update that changes nothing makes no new version
		want.ResourceVersion = s.nextVersion()
		s.configMap = &want
	}
	return s.configMap.DeepCopy(), nil
}

func (s *Server) checkConfigMap(want core.ConfigMap) field.ErrorList {
	var problems field.ErrorList
	size := 0
	name := regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	for key, value := range want.BinaryData {
		size += len(value)
		if !name.MatchString(key) {
			problems = append(problems, field.Invalid(field.NewPath("binaryData").Key(key), key, "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"))
		}
	}
	for _, value := range want.Data {
		size += len(value)
	}
	if size > maxValues {
		problems = append(problems, field.TooLong(field.NewPath(""), "", maxValues))
	}
	if was := s.configMap; was.Immutable != nil && *was.Immutable && !reflect.DeepEqual(was.BinaryData, want.BinaryData) {
		problems = append(problems, field.Forbidden(field.NewPath("binaryData"), "field is immutable when `immutable` is set"))
	}
	return problems
}

// updateLease replaces the object; a Lease is never updated blindly.
func (s *Server) updateLease(asked request) (any, *apierrors.StatusError) {
	var want coordination.Lease
	if err := json.Unmarshal(asked.body, &want); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if refusal := s.checkMeta(asked, want.ObjectMeta, s.lease.ObjectMeta); refusal != nil {
		return nil, refusal
	}
	var problems field.ErrorList
	if want.ResourceVersion == "" {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update"))
	}
	if seconds := want.Spec.LeaseDurationSeconds; seconds != nil && *seconds <= 0 {
		problems = append(problems, field.Invalid(field.NewPath("spec", "leaseDurationSeconds"), *seconds, "must be greater than 0"))
	}
	if n := want.Spec.LeaseTransitions; n != nil && *n < 0 {
		problems = append(problems, field.Invalid(field.NewPath("spec", "leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	if len(problems) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: asked.group, Kind: "Lease"}, asked.name, problems)
	}
	want.TypeMeta, want.UID, want.ResourceVersion = s.lease.TypeMeta, s.lease.UID, s.lease.ResourceVersion
	if !reflect.DeepEqual(&want, s.lease) {
		want.ResourceVersion = s.nextVersion()
		s.lease = &want
	}
	return s.lease.DeepCopy(), nil
}

// checkMeta refuses an object that is another one, or was made from an older
// version.
func (s *Server) checkMeta(asked request, want, have meta.ObjectMeta) *apierrors.StatusError {
	kind := schema.GroupResource{Group: asked.group, Resource: asked.resource}
	switch {
	case want.Name != asked.name || want.Namespace != "" && want.Namespace != asked.namespace:
		return apierrors.NewBadRequest("the name of the object (" + want.Name + ") does not match the name on the URL (" + asked.name + ")")
	case want.UID != "" && want.UID != have.UID:
		return apierrors.NewConflict(kind, asked.name, errors.New("Precondition failed: UID in precondition: "+string(want.UID)+", UID in object meta: "+string(have.UID)))
	case want.ResourceVersion != "" && want.ResourceVersion != have.ResourceVersion:
		return apierrors.NewConflict(kind, asked.name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}
