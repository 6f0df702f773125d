package probes

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"perch.example/probes/wire"
)

// The gRPC codes that perch knows by what they mean.
const (
	codeOK                = 0
	codeUnknown           = 2
	codeDeadlineExceeded  = 4
	codeNotFound          = 5
	codePermissionDenied  = 7
	codeResourceExhausted = 8
	codeUnimplemented     = 12
	codeInternal          = 13
	codeUnavailable       = 14
	codeUnauthenticated   = 16
)

// codeName returns the name of a gRPC code. A client takes a code that it does
// not know for UNKNOWN.
func codeName(code int) string {
	names := []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
		"UNAUTHENTICATED",
	}
	if code < 0 || code >= len(names) {
		return "UNKNOWN"
	}
	return names[code]
}

// grpcEnd is how a gRPC answer ended.
type grpcEnd struct {
	code    int
	message string
	told    bool // by grpc-status; else the HTTP status stands for it
}

// endOf reads the status of a whole answer: from its trailers, or from its head
// where it is nothing but trailers. Without one the HTTP status stands for it, as
// gRPC's clients map it; a 200 without one is no answer of gRPC's.
func endOf(r wire.Response) (grpcEnd, *fault) {
	said := r.Trailer
	if said.Get("Grpc-Status") == "" {
		said = r.Header
	}
	value := said.Get("Grpc-Status")
	if value == "" {
		return endWithout(r)
	}
	code, err := strconv.Atoi(value)
	if err != nil || code < 0 {
		return grpcEnd{}, &fault{ReasonBadResponse, "the answer's grpc-status is no number"}
	}
	return grpcEnd{code: code, message: percentDecoded(said.Get("Grpc-Message")), told: true}, nil
}

func endWithout(r wire.Response) (grpcEnd, *fault) {
	switch {
	case r.Status != http.StatusOK:
		return grpcEnd{code: codeOfHTTP(r.Status)}, nil
	case !strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "application/grpc"):
		return grpcEnd{}, &fault{ReasonBadResponse, "what came is no gRPC: its content-type is another"}
	}
	return grpcEnd{}, &fault{ReasonBadResponse, "the answer ended without a grpc-status in its trailers"}
}

// codeOfHTTP is gRPC's own table (doc/http-grpc-status-mapping.md of grpc/grpc).
func codeOfHTTP(status int) int {
	switch status {
	case http.StatusBadRequest:
		return codeInternal
	case http.StatusUnauthorized:
		return codeUnauthenticated
	case http.StatusForbidden:
		return codePermissionDenied
	case http.StatusNotFound:
		return codeUnimplemented
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return codeUnavailable
	}
	return codeUnknown
}

// percentDecoded undoes the encoding of grpc-message. What is not encoded well
// stays as it is, as gRPC wants it.
func percentDecoded(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return strings.ToValidUTF8(plain, "\uFFFD")
	}
	return s
}

// grpcTimeout writes a timeout as the grpc-timeout header has it: at most eight
// digits and a unit.
func grpcTimeout(d time.Duration) string {
	const most = 99_999_999
	if ms := (d + time.Millisecond - 1) / time.Millisecond; ms <= most {
		return strconv.FormatInt(int64(ms), 10) + "m"
	}
	return strconv.FormatInt(min(int64(d/time.Second), most), 10) + "S"
}

// pushback is how long a server asks to be left alone by grpc-retry-pushback-ms;
// 0: it does not.
func pushback(r wire.Response) time.Duration {
	for _, h := range []http.Header{r.Trailer, r.Header} {
		if ms, err := strconv.ParseUint(h.Get("Grpc-Retry-Pushback-Ms"), 10, 32); err == nil {
			return min(time.Duration(ms)*time.Millisecond, 7*24*time.Hour)
		}
	}
	return 0
}
