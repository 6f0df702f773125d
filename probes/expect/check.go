package expect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// maxTime bounds all expectations on one answer. The cost limit stops an
// expression long before on any machine that can serve as a prober.
const maxTime = 4 * time.Second

// ordinary is what is expected of the status when no expression speaks of it.
const ordinary = "status >= 200 && status < 300"

// ordinaryGRPC is what is expected of a gRPC answer when no expression speaks of
// its status.
const ordinaryGRPC = "grpc.code == 0"

// Check returns the expectations that a does not meet, in order. Unless an
// expression refers to status, a status of 200 to 299 is expected as well; of a
// gRPC answer it is the code 0, unless one refers to grpc.
func (s *Set) Check(a Answer) []Failure {
	var failures []Failure
	switch {
	case a.GRPC != nil && !s.Speaks("grpc") && a.GRPC.Code != 0:
		failures = append(failures, Failure{AboutStatus, ordinaryGRPC, "gRPC status " + a.GRPC.Status + ", want OK"})
	case a.GRPC == nil && !s.Speaks("status") && !success(a.Status):
		failures = append(failures, Failure{AboutStatus, ordinary, fmt.Sprintf("status %d, want 200 to 299", a.Status)})
	}
	return append(failures, s.hold(a)...)
}

// hold returns the expressions that do not hold, in order.
func (s *Set) hold(a Answer) []Failure {
	if s == nil || len(s.expectations) == 0 {
		return nil
	}
	var failures []Failure
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	in := &input{answer: a}
	for _, e := range s.expectations {
		if f, failed := e.check(ctx, in); failed {
			failures = append(failures, f)
		}
	}
	return failures
}

func success(status int) bool { return status >= 200 && status < 300 }

// Speaks reports whether an expression refers to a variable.
func (s *Set) Speaks(variable string) bool {
	return s != nil && slices.ContainsFunc(s.expectations, func(e *expectation) bool { return e.uses[variable] })
}

// Expects reports whether an answer with this status can be what was asked for,
// so that a 401 can be the expected answer: no expression about the status is
// false whatever the rest of the answer is. Without such an expression it is
// 200 to 299.
func (s *Set) Expects(status int) bool {
	if !s.Speaks("status") {
		return success(status)
	}
	return s.mayHold("status", Answer{Status: status})
}

// ExpectsGRPC is Expects for the status of a gRPC answer; without an expression
// about grpc it is the code 0.
func (s *Set) ExpectsGRPC(g GRPC) bool {
	if !s.Speaks("grpc") {
		return g.Code == 0
	}
	return s.mayHold("grpc", Answer{GRPC: &g})
}

// mayHold reports whether no expression that refers to a variable is false
// whatever all others are.
func (s *Set) mayHold(variable string, a Answer) bool {
	in := &input{answer: a, only: variable}
	for _, e := range s.expectations {
		if !e.uses[variable] {
			continue
		}
		out, _, err := e.program.Eval(in)
		if err != nil || out == types.False {
			return false
		}
	}
	return true
}

func (e *expectation) check(ctx context.Context, in *input) (Failure, bool) {
	out, _, err := e.program.ContextEval(ctx, in)
	if err != nil {
		return Failure{AboutOther, e.expression, "evaluation error: " + e.why(err) + ", want " + e.expression}, true
	}
	switch out {
	case types.True:
		return Failure{}, false
	case types.False:
		return Failure{e.about(), e.expression, e.detail(in.answer)}, true
	}
	return Failure{AboutOther, e.expression, "evaluation error: gives neither true nor false, want a comparison: " + e.expression}, true
}

// detail says what was got of what may be shown, and what was wanted.
func (e *expectation) detail(a Answer) string {
	var got []string
	if e.uses["status"] {
		got = append(got, fmt.Sprintf("status %d", a.Status))
	}
	if e.uses["grpc"] && a.GRPC != nil {
		got = append(got, "gRPC status "+a.GRPC.Status)
	}
	if e.uses["latency"] {
		got = append(got, "latency "+a.Latency.Round(100*time.Microsecond).String())
	}
	if e.uses["proto"] {
		got = append(got, "proto "+a.Proto)
	}
	if e.uses["tls"] {
		got = append(got, fmt.Sprintf("tls %q", a.TLS))
	}
	if e.uses["certificate"] && a.Certificate != nil {
		got = append(got, a.Certificate.words())
	}
	if len(got) == 0 {
		return "does not hold: " + e.expression
	}
	return strings.Join(got, ", ") + ", want " + e.expression
}

// why explains an evaluation error. CEL's own text may quote the body, so
// nothing of it is passed on but names that the expression itself spells out.
func (e *expectation) why(err error) string {
	var canceled interpreter.EvalCancelledError
	text := err.Error()
	switch {
	case errors.As(err, &canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, interpreter.InterruptError{}):
		return "it costs too much on this answer"
	case strings.HasPrefix(text, jsonTrouble):
		return strings.TrimPrefix(text, jsonTrouble)
	case strings.HasPrefix(text, noGRPC):
		return noGRPC
	case strings.HasPrefix(text, "no such key"):
		if key := strings.TrimPrefix(text, "no such key: "); e.names[key] {
			return fmt.Sprintf("the answer has no %q", key)
		}
		return "the answer lacks a key"
	case strings.Contains(text, "index out of bounds"):
		return "a list of the answer is too short"
	case strings.Contains(text, "no such overload"), strings.Contains(text, "unsupported"), strings.Contains(text, "conversion"):
		return "a value of the answer is of another kind"
	}
	return "it cannot be evaluated on this answer"
}

// input gives an expression its variables, making each when it is first asked
// for: most answers are never turned into text or JSON.
type input struct {
	answer     Answer
	only       string // all but this variable is unknown; empty: all is known
	headers    map[string]string
	body, json ref.Val
}

// Parent is part of CEL's Activation.
func (*input) Parent() interpreter.Activation { return nil }

// ResolveName is part of CEL's Activation.
func (in *input) ResolveName(name string) (any, bool) {
	if in.only != "" && name != in.only {
		return types.NewUnknown(1, nil), true
	}
	switch name {
	case "status":
		return types.Int(in.answer.Status), true
	case "latency":
		return types.Duration{Duration: in.answer.Latency}, true
	case "proto":
		return types.String(in.answer.Proto), true
	case "tls":
		return types.String(in.answer.TLS), true
	case "certificate":
		return in.answer.Certificate.values(), true
	case "headers":
		if in.headers == nil {
			in.headers = lowerHeaders(in.answer.Headers)
		}
		return in.headers, true
	case "body":
		if in.body == nil {
			in.body = types.String(in.answer.Body)
		}
		return in.body, true
	case "json":
		if in.json == nil {
			in.json = parseJSON(in.answer.Body)
		}
		return in.json, true
	case "grpc":
		return grpcValue(in.answer.GRPC), true
	}
	return nil, false
}

func lowerHeaders(h map[string][]string) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}
