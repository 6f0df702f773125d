package probes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"perch.example/probes/wire"
)

func TestFrames(t *testing.T) {
	whole := framed([]byte("one"), nil, []byte("three"))
	got, bad := unframed(whole, "", 100)
	if bad != nil || len(got) != 3 || string(got[0]) != "one" || len(got[1]) != 0 || string(got[2]) != "three" {
		t.Fatalf("unframed: %q, %v", got, bad)
	}
	for cut := 1; cut < len(whole); cut++ {
		if _, bad := unframed(whole[:cut], "", 100); bad == nil && cut != 8 && cut != 13 {
			t.Errorf("cut after %d bytes: no fault", cut)
		} else if bad != nil && bad.reason != ReasonBadResponse {
			t.Errorf("cut after %d bytes: %v, want bad_response", cut, bad)
		}
	}
	if _, bad := unframed(framed(make([]byte, 101)), "", 100); bad == nil || bad.reason != ReasonTooLarge {
		t.Errorf("a large message: %v, want too_large", bad)
	}
	if _, bad := unframed([]byte{0, 255, 255, 255, 255}, "", 100); bad == nil || bad.reason != ReasonTooLarge {
		t.Errorf("a length of 4 GiB: %v, want too_large", bad)
	}
	if _, bad := unframed([]byte("<html>"), "", 1<<40); bad == nil || bad.reason != ReasonBadResponse {
		t.Errorf("HTML: %v, want bad_response", bad)
	}
}

func TestCompressedFrames(t *testing.T) {
	zipped := func(plain string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(plain))
		_ = z.Close()
		f := framed(b.Bytes())
		f[0] = 1
		return f
	}
	if got, bad := unframed(zipped("stock"), "gzip", 100); bad != nil || len(got) != 1 || string(got[0]) != "stock" {
		t.Errorf("gzip: %q, %v", got, bad)
	}
	for name, tt := range map[string]struct {
		body     []byte
		encoding string
		want     Reason
	}{
		"a bomb":           {zipped(strings.Repeat("x", 1000)), "gzip", ReasonTooLarge},
		"broken":           {[]byte{1, 0, 0, 0, 1, 'x'}, "gzip", ReasonBadResponse},
		"cut":              {append([]byte{1, 0, 0, 0, 12}, zipped("stock")[5:17]...), "gzip", ReasonBadResponse},
		"another encoding": {zipped("stock"), "snappy", ReasonBadResponse},
		"none named":       {zipped("stock"), "", ReasonBadResponse},
	} {
		if _, bad := unframed(tt.body, tt.encoding, 100); bad == nil || bad.reason != tt.want {
			t.Errorf("%s: %v, want %s", name, bad, tt.want)
		}
	}
}

func FuzzUnframed(f *testing.F) {
	f.Add(framed([]byte("one"), nil), "gzip")
	f.Add([]byte{1, 0, 0, 0, 1, 'x'}, "gzip")
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		messages, bad := unframed(body, encoding, 1<<10)
		if bad != nil && bad.detail == "" {
			t.Error("a fault without a word")
		}
		for _, m := range messages {
			if len(m) > 1<<10 {
				t.Errorf("a message of %d bytes", len(m))
			}
			_, _ = healthStatus(m)
			_, _ = reflectedIn(m)
		}
	})
}

func TestEndOf(t *testing.T) {
	h := func(pairs ...string) http.Header {
		out := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			out.Set(pairs[i], pairs[i+1])
		}
		return out
	}
	for name, tt := range map[string]struct {
		response wire.Response
		want     grpcEnd
		fault    string
	}{
		"trailers":      {wire.Response{Status: 200, Header: h("Content-Type", "application/grpc"), Trailer: h("Grpc-Status", "0")}, grpcEnd{told: true}, ""},
		"trailers only": {wire.Response{Status: 200, Header: h("Grpc-Status", "5", "Grpc-Message", "no%20stock")}, grpcEnd{5, "no stock", true}, ""},
		"both":          {wire.Response{Status: 200, Header: h("Grpc-Status", "0"), Trailer: h("Grpc-Status", "13")}, grpcEnd{code: 13, told: true}, ""},
		"badly encoded": {wire.Response{Status: 200, Trailer: h("Grpc-Status", "2", "Grpc-Message", "50% off%zz")}, grpcEnd{2, "50% off%zz", true}, ""},
		"not UTF-8":     {wire.Response{Status: 200, Trailer: h("Grpc-Status", "2", "Grpc-Message", "a%ffb")}, grpcEnd{2, "a\uFFFDb", true}, ""},
		"a 503":         {wire.Response{Status: 503}, grpcEnd{code: codeUnavailable}, ""},
		"a 401":         {wire.Response{Status: 401}, grpcEnd{code: codeUnauthenticated}, ""},
		"a 403":         {wire.Response{Status: 403}, grpcEnd{code: codePermissionDenied}, ""},
		"a 404":         {wire.Response{Status: 404}, grpcEnd{code: codeUnimplemented}, ""},
		"a 400":         {wire.Response{Status: 400}, grpcEnd{code: codeInternal}, ""},
		"a 500":         {wire.Response{Status: 500}, grpcEnd{code: codeUnknown}, ""},
		"no trailers":   {wire.Response{Status: 200, Header: h("Content-Type", "application/grpc+proto")}, grpcEnd{}, "without a grpc-status"},
		"HTML":          {wire.Response{Status: 200, Header: h("Content-Type", "text/html")}, grpcEnd{}, "no gRPC"},
		"no number":     {wire.Response{Status: 200, Trailer: h("Grpc-Status", "OK")}, grpcEnd{}, "no number"},
		"negative":      {wire.Response{Status: 200, Trailer: h("Grpc-Status", "-1")}, grpcEnd{}, "no number"},
	} {
		got, bad := endOf(tt.response)
		if got != tt.want || (bad == nil) != (tt.fault == "") || bad != nil && !strings.Contains(bad.detail, tt.fault) {
			t.Errorf("%s: %+v, %v, want %+v, %q", name, got, bad, tt.want, tt.fault)
		}
	}
}

func TestCodeNames(t *testing.T) {
	for code, want := range map[int]string{-1: "UNKNOWN", 0: "OK", 4: "DEADLINE_EXCEEDED", 12: "UNIMPLEMENTED", 16: "UNAUTHENTICATED", 17: "UNKNOWN"} {
		if got := codeName(code); got != want {
			t.Errorf("codeName(%d) = %s, want %s", code, got, want)
		}
	}
}

func TestGRPCTimeout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1000m", 1500 * time.Microsecond: "2m", 10 * time.Millisecond: "10m", 1000 * time.Hour: "3600000S",
	} {
		if got := grpcTimeout(d); got != want {
			t.Errorf("grpcTimeout(%s) = %s, want %s", d, got, want)
		}
	}
}

// statusBin is a google.rpc.Status with details, as a trailer carries it.
func statusBin(t *testing.T, details ...proto.Message) string {
	t.Helper()
	s := &status.Status{Code: 5, Message: "no stock"}
	for _, d := range details {
		one, err := anypb.New(d)
		if err != nil {
			t.Fatal(err)
		}
		s.Details = append(s.Details, one)
	}
	data, err := proto.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawStdEncoding.EncodeToString(data)
}

func TestDetails(t *testing.T) {
	unknown := &anypb.Any{TypeUrl: "type.googleapis.com/shop.Sold", Value: []byte{8, 1}}
	bin := statusBin(t, &errdetails.ErrorInfo{Reason: "SOLD_OUT", Metadata: map[string]string{"sku": "7"}}, &errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)})
	for _, value := range []string{bin, bin + strings.Repeat("=", (4-len(bin)%4)%4)} {
		details := detailsOf(wire.Response{Trailer: http.Header{"Grpc-Status-Details-Bin": {value}}})
		shown := shownDetails(append(slices.Clone(details), unknown), protoregistry.GlobalTypes)
		if len(shown) != 3 || shown[0]["reason"] != "SOLD_OUT" || shown[0]["@type"] != "type.googleapis.com/google.rpc.ErrorInfo" || shown[1]["retryDelay"] != "3s" {
			t.Errorf("details: %v", shown)
		}
		if len(shown) == 3 && (len(shown[2]) != 1 || shown[2]["@type"] != "type.googleapis.com/shop.Sold") {
			t.Errorf("of a type that is not known: %v", shown[2])
		}
		if got := retryDelay(details); got != 3*time.Second {
			t.Errorf("retryDelay: %s", got)
		}
	}
	for _, value := range []string{"", "%%%", "AAAA", "CAUSCG5v"} {
		if got := detailsOf(wire.Response{Trailer: http.Header{"Grpc-Status-Details-Bin": {value}}}); got != nil {
			t.Errorf("%q: %v, want none", value, got)
		}
	}
}

func FuzzDetails(f *testing.F) {
	f.Add("CAUSCG5v")
	f.Add("CAUaIAoedHlwZS5nb29nbGVhcGlzLmNvbS9zaG9wLlNvbGQ")
	f.Fuzz(func(_ *testing.T, value string) {
		details := detailsOf(wire.Response{Trailer: http.Header{"Grpc-Status-Details-Bin": {value}}})
		_ = shownDetails(details, protoregistry.GlobalTypes)
		_, _ = retryDelay(details), detailNames(details)
	})
}
