package expect

import (
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// variables returns what an expression can look at.
func variables() []string {
	return []string{"status", "latency", "proto", "tls", "headers", "body", "json", "grpc", "certificate"}
}

// inspector finds in an expression's tree what it refers to. Text would not do:
// "status" may be a JSON key, a literal, or a loop's own variable.
type inspector struct {
	uses  map[string]bool // variables
	names map[string]bool // keys, fields and literals that the expression spells out
	upper ast.Expr        // a header named with capitals; nil: none
	name  string          // that name
	grpc  []string        // fields of grpc; "" is grpc as a whole, or a field that is computed
	slip  *slip           // the first field that is not there, or compared with what it cannot equal; nil: none
}

// visit walks e; bound are the loop variables that hide the declared ones.
func (in *inspector) visit(e ast.Expr, bound []string) {
	switch e.Kind() {
	case ast.IdentKind:
		name := strings.TrimPrefix(e.AsIdent(), ".")
		if !slices.Contains(bound, name) && slices.Contains(variables(), name) {
			in.uses[name] = true
			if name == "grpc" {
				in.grpc = append(in.grpc, "")
			}
		}
	case ast.LiteralKind:
		if s, ok := e.AsLiteral().(types.String); ok {
			in.names[string(s)] = true
		}
	case ast.SelectKind:
		s := e.AsSelect()
		in.names[s.FieldName()] = true
		if in.ofGRPC(e, s.Operand(), s.FieldName(), bound) {
			return
		}
		if o := s.Operand(); o.Kind() == ast.IdentKind && o.AsIdent() == "certificate" && !slices.Contains(bound, "certificate") {
			in.unknownField(e, "certificate", s.FieldName())
		}
		in.header(e, s.Operand(), s.FieldName(), bound)
		in.visit(s.Operand(), bound)
	case ast.CallKind:
		in.call(e, bound)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			in.visit(item, bound)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			in.visit(entry.AsMapEntry().Key(), bound)
			in.visit(entry.AsMapEntry().Value(), bound)
		}
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			in.visit(f.AsStructField().Value(), bound)
		}
	case ast.ComprehensionKind:
		in.comprehension(e.AsComprehension(), bound)
	default:
	}
}

func (in *inspector) call(e ast.Expr, bound []string) {
	call := e.AsCall()
	if call.IsMemberFunction() {
		in.visit(call.Target(), bound)
	}
	args := call.Args()
	for _, arg := range args {
		in.visit(arg, bound)
	}
	if len(args) != 2 {
		return
	}
	in.compared(e, call.FunctionName(), args, bound)
	switch call.FunctionName() {
	case operators.Index:
		in.header(args[1], args[0], literal(args[1]), bound)
	case operators.In:
		in.header(args[0], args[1], literal(args[0]), bound)
	}
}

func (in *inspector) comprehension(c ast.ComprehensionExpr, bound []string) {
	in.visit(c.IterRange(), bound)
	in.visit(c.AccuInit(), bound)
	inner := append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
	in.visit(c.LoopCondition(), inner)
	in.visit(c.LoopStep(), inner)
	in.visit(c.Result(), inner)
}

// header notes a key of headers that no answer can have: names are lower case.
func (in *inspector) header(at, operand ast.Expr, name string, bound []string) {
	if operand.Kind() != ast.IdentKind || operand.AsIdent() != "headers" || slices.Contains(bound, "headers") {
		return
	}
	if name != strings.ToLower(name) && in.upper == nil {
		in.upper, in.name = at, name
	}
}

func literal(e ast.Expr) string {
	if e.Kind() != ast.LiteralKind {
		return ""
	}
	s, _ := e.AsLiteral().(types.String)
	return string(s)
}

// inspect looks through a checked expression.
func (e *expectation) inspect(tree *ast.AST) *Error {
	in := inspector{uses: map[string]bool{}, names: map[string]bool{}}
	in.visit(tree.Expr(), nil)
	e.uses, e.names = in.uses, in.names
	e.grpcBeside = slices.ContainsFunc(in.grpc, func(f string) bool { return f != "code" && f != "status" })
	if in.slip != nil {
		at := tree.SourceInfo().GetStartLocation(in.slip.at.ID())
		return &Error{Expression: e.expression, Problem: column(at.Line(), at.Column()) + in.slip.problem, Fix: in.slip.fix}
	}
	if in.upper == nil {
		return nil
	}
	at := tree.SourceInfo().GetStartLocation(in.upper.ID())
	return &Error{
		Expression: e.expression, Problem: column(at.Line(), at.Column()) + "no header is called " + strconv.Quote(in.name) + " here",
		Fix: "names are lower case: headers[" + strconv.Quote(strings.ToLower(in.name)) + "]",
	}
}

// about sums up what an expression refers to.
func (e *expectation) about() About {
	switch {
	case len(e.uses) == 1 && e.uses["status"], len(e.uses) == 1 && e.uses["grpc"] && !e.grpcBeside:
		return AboutStatus
	case len(e.uses) == 1 && e.uses["latency"]:
		return AboutLatency
	}
	return AboutOther
}
