package expect

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// noGRPC is why grpc has no value.
const noGRPC = "the answer is no gRPC"

// grpcValue is the variable grpc, or a CEL error.
func grpcValue(g *GRPC) ref.Val {
	if g == nil {
		return types.NewErr(noGRPC)
	}
	details := g.Details
	if details == nil {
		details = []map[string]any{}
	}
	return types.DefaultTypeAdapter.NativeToValue(map[string]any{
		"code": g.Code, "status": g.Status, "message": g.Message, "details": details,
	})
}

// ofGRPC notes which of grpc's fields is looked at, and reports whether e selects
// one at all. One that it does not have is a slip of the pen.
func (in *inspector) ofGRPC(e, operand ast.Expr, field string, bound []string) bool {
	if operand.Kind() != ast.IdentKind || operand.AsIdent() != "grpc" || slices.Contains(bound, "grpc") {
		return false
	}
	in.uses["grpc"] = true
	in.grpc = append(in.grpc, field)
	in.unknownField(e, "grpc", field)
	return true
}
