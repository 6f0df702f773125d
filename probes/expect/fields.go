package expect

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// known is a field of a variable that has a closed set of them.
type known struct {
	name, kind string // kind: as typeName says it
	example    string // a comparison that it has a use for
}

// fieldsOf are the fields of grpc or of certificate; none: the variable is no such thing.
func fieldsOf(variable string) []known {
	switch variable {
	case "grpc":
		return []known{
			{"code", asNumber, "grpc.code == 0"}, {"status", asText, `grpc.status == "OK"`},
			{"message", asText, `grpc.message == ""`}, {"details", "a list", "size(grpc.details) == 0"},
		}
	case "certificate":
		return []known{
			{"not_after", "a timestamp", `certificate.not_after > timestamp("2027-01-31T00:00:00Z")`},
			{"days_left", asNumber, "certificate.days_left > 30"}, {"subject", asText, `certificate.subject.contains("api")`},
			{"issuer", asText, `certificate.issuer.contains("CA")`}, {"names", "a list", `"api.example" in certificate.names`},
			{"staple", asText, `certificate.staple == "good"`},
		}
	default:
		return nil
	}
}

// The kinds of what an expression spells out.
const (
	asNumber = "a number"
	asText   = "text"
)

// slip is a field that is not there, or that nothing of the other kind equals.
type slip struct {
	at           ast.Expr
	problem, fix string
}

// unknownField notes a field that its variable does not have.
func (in *inspector) unknownField(e ast.Expr, variable, field string) {
	fields := fieldsOf(variable)
	if in.slip != nil || slices.ContainsFunc(fields, func(k known) bool { return k.name == field }) {
		return
	}
	var names []string
	for _, k := range fields {
		names = append(names, k.name)
	}
	in.slip = &slip{e, fmt.Sprintf("%s has no %q", variable, field), "it has " + strings.Join(names, ", ")}
}

// compared notes a comparison that cannot hold: of a field with what is of another
// kind, or of days that have a fraction with one number.
func (in *inspector) compared(e ast.Expr, function string, args []ast.Expr, bound []string) {
	if !slices.Contains([]string{operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals}, function) {
		return
	}
	for i, arg := range args {
		variable, field, ok := fieldIn(arg, bound)
		kind := kindOf(args[1-i])
		if !ok || kind == "" || in.slip != nil {
			continue
		}
		name := variable + "." + field.name
		switch {
		case kind != field.kind:
			in.slip = &slip{e, fmt.Sprintf("%s is %s, and is compared with %s", name, field.kind, kind), "want " + field.example}
		case field.name == "days_left" && (function == operators.Equals || function == operators.NotEquals):
			in.slip = &slip{e, name + " has a fraction, and no whole number equals it", "compare it with > or <: " + field.example}
		}
	}
}

// fieldIn is the known field that an expression selects.
func fieldIn(e ast.Expr, bound []string) (variable string, field known, ok bool) {
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || e.AsSelect().Operand().Kind() != ast.IdentKind {
		return "", known{}, false
	}
	variable = e.AsSelect().Operand().AsIdent()
	if slices.Contains(bound, variable) {
		return "", known{}, false
	}
	fields := fieldsOf(variable)
	i := slices.IndexFunc(fields, func(k known) bool { return k.name == e.AsSelect().FieldName() })
	if i < 0 {
		return "", known{}, false
	}
	return variable, fields[i], true
}

// kindOf is what a literal is; empty: e is none.
func kindOf(e ast.Expr) string {
	if e.Kind() != ast.LiteralKind {
		return ""
	}
	switch e.AsLiteral().(type) {
	case types.Int, types.Uint, types.Double:
		return asNumber
	case types.String:
		return asText
	case types.Bool:
		return "true or false"
	default:
		return ""
	}
}
