package probes

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails" // which also makes google.rpc's own details known
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"perch.example/probes/wire"
)

// mostDetails bounds how many details of a status are looked at.
const mostDetails = 32

// detailsOf reads the google.rpc.Status behind a gRPC status; nil: there is none,
// or it cannot be read, which changes nothing for a client.
func detailsOf(r wire.Response) []*anypb.Any {
	value := r.Trailer.Get("Grpc-Status-Details-Bin")
	if value == "" {
		value = r.Header.Get("Grpc-Status-Details-Bin")
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil || len(data) == 0 {
		return nil
	}
	var s status.Status
	if proto.Unmarshal(data, &s) != nil {
		return nil
	}
	return slices.Clip(s.GetDetails()[:min(len(s.GetDetails()), mostDetails)])
}

// shownDetails turns details into JSON's maps: of a type that is known all its
// fields, of another its "@type" alone.
func shownDetails(details []*anypb.Any, known typeResolver) []map[string]any {
	var shown []map[string]any
	for _, d := range details {
		one := map[string]any{}
		if text, err := (protojson.MarshalOptions{Resolver: known, EmitDefaultValues: true}).Marshal(d); err != nil || json.Unmarshal(text, &one) != nil {
			one = map[string]any{"@type": d.GetTypeUrl()}
		}
		shown = append(shown, one)
	}
	return shown
}

// typeResolver finds the messages that an Any may hold.
type typeResolver interface {
	protoregistry.MessageTypeResolver
	protoregistry.ExtensionTypeResolver
}

// retryDelay is what a google.rpc.RetryInfo asks for; 0: there is none.
func retryDelay(details []*anypb.Any) time.Duration {
	for _, d := range details {
		var info errdetails.RetryInfo
		if d.UnmarshalTo(&info) == nil {
			return min(max(0, info.GetRetryDelay().AsDuration()), 7*24*time.Hour)
		}
	}
	return 0
}
