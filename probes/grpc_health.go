package probes

import "google.golang.org/protobuf/encoding/protowire"

// healthPath is the one method of grpc.health.v1 that perch calls.
const healthPath = "grpc.health.v1.Health/Check"

// The states of a service, by their names as JSON shows them.
const (
	healthServing    = "SERVING"
	healthNotServing = "NOT_SERVING"
)

// healthRequest is a HealthCheckRequest: the service in field 1.
func healthRequest(service string) []byte {
	if service == "" {
		return nil
	}
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), service)
}

// healthStatus reads a HealthCheckResponse: the state in field 1. False: it is none.
func healthStatus(message []byte) (string, bool) {
	state := uint64(0)
	whole := eachField(message, func(number protowire.Number, data []byte, value uint64) bool {
		if number == 1 && data == nil {
			state = value
		}
		return true
	})
	if !whole {
		return "", false
	}
	switch state {
	case 0:
		return "UNKNOWN", true
	case 1:
		return healthServing, true
	case 2:
		return healthNotServing, true
	case 3:
		return "SERVICE_UNKNOWN", true
	}
	return "", false
}
