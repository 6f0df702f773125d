package probes

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"perch.example/internal/memnet"
)

// grpcPeer speaks as much gRPC as these tests need, on the standard library's
// HTTP/2 server. It describes shop.Stock by reflection.
type grpcPeer struct {
	network *memnet.Network
	old     bool            // only v1alpha's reflection
	bare    bool            // no reflection
	apart   bool            // reflection gives one file an answer
	without map[string]bool // files that it does not have
	mu      sync.Mutex
	seen    []string // paths, with the remote address of a connection's first request
	files   map[string][]byte
}

func newGRPCPeer(t *testing.T, p *grpcPeer) *grpcPeer {
	t.Helper()
	p.network, p.files = memnet.New(), map[string][]byte{}
	for _, f := range stockSet(t).GetFile() {
		p.files[f.GetName()] = marshaled(t, f)
	}
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: p, Protocols: &h2c, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(p.network) }()
	t.Cleanup(func() { _, _ = s.Close(), p.network.Close() })
	return p
}

func (p *grpcPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.URL.Path)
	p.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	questions, _ := unframed(body, "", 1<<20)
	w.Header().Set("Content-Type", "application/grpc")
	switch {
	case p.bare:
		w.Header().Set("Grpc-Status", "12")
	case r.URL.Path == "/"+reflectionPaths()[0] && !p.old, r.URL.Path == "/"+reflectionPaths()[1]:
		for _, q := range questions {
			_, _ = w.Write(framed(p.describe(q)))
		}
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	case r.URL.Path == "/shop.Stock/List":
		_, _ = w.Write(framed([]byte("\x0a\x05\x0a\x03a-7")))
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	default:
		w.Header().Set("Grpc-Status", strconv.Itoa(codeUnimplemented))
	}
}

// describe answers one question of reflection.
func (p *grpcPeer) describe(question []byte) []byte {
	var names []string
	eachField(question, func(field protowire.Number, data []byte, _ uint64) bool {
		switch {
		case field == askFileByName:
			names = []string{string(data)}
		case field == askFileOfSymbol && string(data) == "shop.Stock" && p.apart:
			names = []string{"shop/stock.proto"}
		case field == askFileOfSymbol && string(data) == "shop.Stock":
			names = []string{"shop/stock.proto", "shop/item.proto"}
		}
		return true
	})
	var answer []byte
	for _, name := range names {
		if p.files[name] != nil && !p.without[name] {
			answer = protowire.AppendBytes(protowire.AppendTag(answer, filesDescriptors, protowire.BytesType), p.files[name])
		}
	}
	if answer == nil {
		code := protowire.AppendVarint(protowire.AppendTag(nil, errorsCode, protowire.VarintType), codeNotFound)
		return protowire.AppendBytes(protowire.AppendTag(nil, answerError, protowire.BytesType), code)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, answerFiles, protowire.BytesType), answer)
}

func (p *grpcPeer) paths() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	short := map[string]string{"/" + reflectionPaths()[0]: "v1", "/" + reflectionPaths()[1]: "v1alpha", "/shop.Stock/List": "List"}
	var all []string
	for _, path := range p.seen {
		all = append(all, short[path])
	}
	return strings.Join(all, " ")
}

// play makes one call of shop.Stock/List.
func (p *grpcPeer) play(t *testing.T, d *desk, known *Descriptors) Observation {
	t.Helper()
	s := newSpec(t, KindGRPC, "http://192.0.2.1", `json.items[0].sku == "a-7"`)
	s.Method, s.ReadOnly, s.GRPC = http.MethodPost, "it lists", &GRPC{Method: "shop.Stock/List"}
	env := newEnv(nil, d)
	env.Dial, env.Descriptors = p.network.Dial, known
	return RunHTTP(t.Context(), s, env)
}

// call makes one call of another method.
func (p *grpcPeer) call(t *testing.T, d *desk, method string) Observation {
	t.Helper()
	s := newSpec(t, KindGRPC, "http://192.0.2.1")
	s.Method, s.ReadOnly, s.GRPC = http.MethodPost, "it reads", &GRPC{Method: method}
	env := newEnv(nil, d)
	env.Dial = p.network.Dial
	return RunHTTP(t.Context(), s, env)
}

// TestReflection: what is asked for, on which connection, for how much of the
// budget.
func TestReflection(t *testing.T) {
	first := []string{"dial describe", "send describe"}
	call := []string{"release", "dial warm", "send warm", "release"}
	for name, tt := range map[string]struct {
		peer  *grpcPeer
		paths string
		calls []string
	}{
		"at once":               {&grpcPeer{}, "v1 List", slices.Concat(first, call)},
		"v1alpha":               {&grpcPeer{old: true}, "v1 v1alpha List", slices.Concat(first, []string{"send describe"}, call)},
		"file by file":          {&grpcPeer{apart: true}, "v1 v1 List", slices.Concat(first, []string{"send describe"}, call)},
		"v1alpha, file by file": {&grpcPeer{apart: true, old: true}, "v1 v1alpha v1alpha List", slices.Concat(first, []string{"send describe", "send describe"}, call)},
	} {
		p, d := newGRPCPeer(t, tt.peer), &desk{t: t}
		o := p.play(t, d, nil)
		if len(o.Attempts) != 1 || !o.Attempts[0].OK() || o.Attempts[0].Served != 0 || p.paths() != tt.paths {
			t.Errorf("%s: %+v, asked %s", name, o, p.paths())
		}
		if got := d.asked(); !slices.Equal(got, tt.calls) {
			t.Errorf("%s: %q, want %q", name, got, tt.calls)
		}
		d.settled(t)
	}
}

// TestReflectionIsRemembered: an answer for all calls that follow, a refusal for a
// while, in which nothing is sent.
func TestReflectionIsRemembered(t *testing.T) {
	p, known := newGRPCPeer(t, &grpcPeer{old: true}), &Descriptors{}
	for range 3 {
		if o := p.play(t, &desk{t: t}, known); len(o.Attempts) != 1 || !o.Attempts[0].OK() {
			t.Errorf("%+v", o)
		}
	}
	if got := p.paths(); got != "v1 v1alpha List List List" {
		t.Errorf("asked %s", got)
	}
	p, known = newGRPCPeer(t, &grpcPeer{without: map[string]bool{"shop/stock.proto": true, "shop/item.proto": true}}), &Descriptors{}
	o := p.play(t, &desk{t: t}, known)
	if len(o.Attempts) != 1 || o.Attempts[0].Reason != ReasonStatus || o.Attempts[0].Detail != "server reflection: the server knows no service shop.Stock" {
		t.Errorf("an unknown service: %+v", o)
	}
	o = p.play(t, &desk{t: t}, known)
	if len(o.Attempts) != 0 || o.Cut != CutSkipped || !strings.HasSuffix(o.CutDetail, "knows no service shop.Stock (a moment ago)") || p.paths() != "v1" {
		t.Errorf("asked again: %+v, %s", o, p.paths())
	}
}

// TestReflectionWithoutAFile: what a message needs and nobody has is not the
// target's fault: perch needs a descriptor set; what it does not need is let pass (google/api/annotations.proto).
func TestReflectionWithoutAFile(t *testing.T) {
	p := newGRPCPeer(t, &grpcPeer{apart: true, without: map[string]bool{"shop/item.proto": true}})
	o := p.play(t, &desk{t: t}, nil)
	if len(o.Attempts) != 0 || o.Cut != CutConfig || !strings.Contains(o.Problem, "is missing") {
		t.Errorf("%+v", o)
	}
}

// TestNoReflection: that the server has none is no failure of its; the config lacks
// a descriptor set.
func TestNoReflection(t *testing.T) {
	o := newGRPCPeer(t, &grpcPeer{bare: true}).call(t, &desk{t: t}, "shop.Stock/List")
	if len(o.Attempts) != 0 || o.Cut != CutConfig || !strings.Contains(o.Problem, "no server reflection: give perch the descriptors with grpc.descriptor_set") {
		t.Errorf("%+v", o)
	}
}

// TestReflectionOfAnotherMethod: one that the server does not have is not what was
// agreed; one that streams is the config's mistake.
func TestReflectionOfAnotherMethod(t *testing.T) {
	p := newGRPCPeer(t, &grpcPeer{})
	o := p.call(t, &desk{t: t}, "shop.Stock/Lst")
	if len(o.Attempts) != 1 || o.Cut != "" || o.Attempts[0].Reason != ReasonStatus ||
		o.Attempts[0].Detail != "server reflection: grpc.method shop.Stock/Lst: shop.Stock has no method Lst; it has Get, List (a call of it would end UNIMPLEMENTED)" {
		t.Errorf("%+v", o)
	}
	o = p.call(t, &desk{t: t}, "shop.Stock/Watch")
	if len(o.Attempts) != 0 || o.Cut != CutConfig || !strings.Contains(o.Problem, "is a streaming method") {
		t.Errorf("%+v", o)
	}
}

// TestReflectionWithinTheBudget: where there is no room for another request soon,
// the connection is not kept waiting; and a refusal ends the step.
func TestReflectionWithinTheBudget(t *testing.T) {
	p := newGRPCPeer(t, &grpcPeer{old: true})
	sent := 0
	d := &desk{t: t, at: func(stage string) error {
		if stage == "send describe" {
			if sent++; sent == 2 {
				return &Denied{Why: "no gap", Later: true}
			}
		}
		return nil
	}}
	if o := p.play(t, d, nil); len(o.Attempts) != 1 || !o.Attempts[0].OK() {
		t.Errorf("%+v", o)
	}
	want := []string{"dial describe", "send describe", "send describe", "release", "dial again", "send again", "release", "dial warm", "send warm", "release"}
	if got := d.asked(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, stage := range []string{"dial describe", "send describe", "dial warm"} {
		d := &desk{t: t, at: func(s string) error {
			if s == stage {
				return &Denied{Why: "used up"}
			}
			return nil
		}}
		if o := p.play(t, d, nil); len(o.Attempts) != 0 || o.Cut != CutSkipped || o.CutDetail != "used up" {
			t.Errorf("%s: %+v", stage, o)
		}
		d.settled(t)
	}
}

// TestReflectionThatFails: the failure is the step's.
func TestReflectionThatFails(t *testing.T) {
	p := newGRPCPeer(t, &grpcPeer{})
	_ = p.network.Close()
	o := p.play(t, &desk{t: t}, nil)
	if len(o.Attempts) != 1 || !o.Attempts[0].Reason.Unopened() {
		t.Errorf("%+v", o)
	}
}

// TestDescriptorsAreBounded: a process that lives for long forgets.
func TestDescriptorsAreBounded(t *testing.T) {
	var d Descriptors
	for i := range 3 * mostDescribed {
		one, err := d.take(t.Context(), strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		one.give()
	}
	if len(d.known) > mostDescribed {
		t.Errorf("%d methods are remembered", len(d.known))
	}
	var m *misfit
	if !errors.As(misfits("x"), &m) {
		t.Error("a misfit is none")
	}
}
