package probes

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"perch.example/internal/memnet"
)

// TestTokenOfGRPC: UNAUTHENTICATED is gRPC's 401 and renews a token, once, though
// its status is 200 and its method POST: the health check reads, and a method of the
// config's is declared to. PERMISSION_DENIED is its 403.
func TestTokenOfGRPC(t *testing.T) {
	for name, c := range map[string]struct {
		codes   []int // of the calls, the last one for all that follow
		grpc    GRPC
		bearers []string
		reasons []Reason
	}{
		"refused once":      {[]int{codeUnauthenticated, codeOK}, GRPC{}, []string{"1", "2"}, []Reason{ReasonUnauthorized, ReasonOK}},
		"refused twice":     {[]int{codeUnauthenticated}, GRPC{}, []string{"1", "2"}, []Reason{ReasonUnauthorized, ReasonUnauthorized}},
		"a method":          {[]int{codeUnauthenticated, codeOK}, GRPC{Method: "shop.Stock/List", DescriptorSet: "stock.binpb"}, []string{"1", "2"}, []Reason{ReasonUnauthorized, ReasonOK}},
		"permission denied": {[]int{codePermissionDenied, codeOK}, GRPC{}, []string{"1"}, []Reason{ReasonUnauthorized}},
	} {
		t.Run(name, func(t *testing.T) {
			network, mu, seen := memnet.New(), sync.Mutex{}, []asked{}
			var h2c http.Protocols
			h2c.SetUnencryptedHTTP2(true)
			server := &http.Server{Protocols: &h2c, ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				code := c.codes[min(len(seen), len(c.codes)-1)]
				seen = append(seen, asked{Request: r})
				mu.Unlock()
				w.Header().Set("Content-Type", "application/grpc")
				if code == codeOK {
					message := "\x08\x01" // SERVING
					if c.grpc.Method != "" {
						message = "\x0a\x05\x0a\x03a-7"
					}
					_, _ = w.Write(framed([]byte(message)))
				}
				w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
			})}
			go func() { _ = server.Serve(network) }()
			t.Cleanup(func() { _, _ = server.Close(), network.Close() })
			s := withToken(t, KindGRPC)
			s.Method, s.ReadOnly, s.GRPC = http.MethodPost, "it lists", &c.grpc
			env, m := newEnv(nil, &desk{t: t}), &mint{give: numbered}
			env.Dial, env.Token = network.Dial, m.token
			env.ReadFile = func(string) ([]byte, error) { return marshaled(t, stockSet(t)), nil }
			o := RunHTTP(t.Context(), s, env)
			if got := bearers(seen); !slices.Equal(got, c.bearers) || !slices.Equal(reasons(o), c.reasons) || o.Cut != "" {
				t.Errorf("tokens %q, reasons %q, %s: %+v", got, reasons(o), o.CutDetail, o.Attempts)
			}
			if o.Attempts[0].Renewed != (len(c.bearers) == 2) {
				t.Errorf("%+v", o.Attempts[0])
			}
		})
	}
}
