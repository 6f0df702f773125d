package probes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// declared returns the constants of a type, in the order of their file.
func declared(t *testing.T, file, typ string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			v, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return true
	})
	return all
}

// The list is the constants, all of them, in their order.
func TestReasonsAreAllThereAre(t *testing.T) {
	var listed []string
	for _, r := range Reasons() {
		listed = append(listed, string(r))
	}
	if want := declared(t, "reason.go", "Reason"); !slices.Equal(listed, want) || len(want) != 38 {
		t.Errorf("Reasons lists %d: %q, declared are %d: %q", len(listed), listed, len(want), want)
	}
}

// The last column of the reasons' table.
func TestResend(t *testing.T) {
	want := map[Resend][]Reason{
		"":         {ReasonCanceled, ReasonSkipped, ReasonInternal, ReasonNoKeepAlive, ReasonOK, "nonsense", ""},
		ResendSafe: {ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy, ReasonCertificate, ReasonTLS, ReasonIdleGoaway, ReasonIdleCloseNotify, ReasonIdleBytes, ReasonIdleFIN, ReasonIdleRST, ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonCrossedClose},
		ResendIdempotent: {ReasonBlackhole, ReasonGoawayProcessed, ReasonStreamReset, ReasonEOF, ReasonReset, ReasonNoResponse,
			ReasonPartialHead, ReasonPartialBody, ReasonBadResponse, ReasonTooLarge, ReasonProxyUpstreamReset},
		ResendAsTold: {ReasonRateLimited, ReasonUnavailable},
		ResendNo:     {ReasonUnauthorized, ReasonRedirected, ReasonStatus, ReasonSlow, ReasonExpectation},
	}
	told := map[Reason]bool{}
	for resend, of := range want {
		for _, r := range of {
			told[r] = true
			if got := r.Resend(); got != resend {
				t.Errorf("%s: %q, want %q", r, got, resend)
			}
		}
	}
	for _, r := range Reasons() {
		if !told[r] {
			t.Errorf("%s is not in this table", r)
		}
	}
}

func TestClosed(t *testing.T) {
	want := []Reason{
		ReasonIdleGoaway, ReasonIdleCloseNotify, ReasonIdleBytes, ReasonIdleFIN, ReasonIdleRST,
		ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonCrossedClose, ReasonEOF, ReasonReset,
	}
	var got []Reason
	for _, r := range Reasons() {
		if r.Closed() {
			got = append(got, r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("closed: %q, want %q", got, want)
	}
}

// The same seed gives the same ids, another seed others; none is zero and none
// comes twice, however many ask at once.
func TestIDs(t *testing.T) {
	a, b, c := NewIDs(1), NewIDs(1), NewIDs(2)
	first := a.Trace()
	if first != b.Trace() || first == c.Trace() || a.Span() != b.Span() {
		t.Error("ids do not follow the seed")
	}
	const workers, each = 8, 500
	var all sync.Map
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				trace, span := a.Trace(), a.Span()
				if len(trace) != 32 || len(span) != 16 {
					t.Errorf("%q and %q have the wrong length", trace, span)
				}
				for _, id := range []string{trace, span} {
					if n, err := strconv.ParseUint(id[len(id)-16:], 16, 64); err != nil || n == 0 {
						t.Errorf("%q is zero or no hex", id)
					}
					if _, twice := all.LoadOrStore(id, true); twice {
						t.Errorf("%q came twice", id)
					}
				}
			}
		})
	}
	wg.Wait()
}
