package report

import (
	"net/http"

	"perch.example/probes"
)

// otherMethod is a request's method where it is not the usual one; gRPC's, which
// is always a POST, says nothing.
func otherMethod(a probes.Attempt) string {
	if a.Method == http.MethodGet || a.GRPC != nil {
		return ""
	}
	return a.Method
}
