package expect

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
)

// Bounds of one expression. The cost counts CEL's own units, about one for each
// step and a tenth of one for each byte of text looked at; what the limit means
// in time is measured in BenchmarkWorst.
const (
	maxLength  = 4 << 10
	maxNodes   = 500
	maxNesting = 3 // comprehensions inside of each other
	maxCost    = 5_000_000
	checkEvery = 1000 // comprehension steps between looks at the clock
)

// Compiler compiles expressions and remembers each, so that a config with a
// hundred equal probes pays for one. The zero value is ready. It is not for
// several goroutines at once; the sets it makes are.
type Compiler struct {
	env   *cel.Env
	known map[string]*expectation
}

// expectation is one compiled expression.
type expectation struct {
	expression string
	program    cel.Program
	uses       map[string]bool // variables
	grpcBeside bool            // of grpc it looks at more than code and status
	names      map[string]bool // keys and literals that the expression itself spells out
}

// Compile is the package's Compile, remembering what it compiled.
func (c *Compiler) Compile(expressions []string) (*Set, error) {
	s := &Set{}
	var errs []error
	for i, text := range expressions {
		e, bad := c.one(text)
		if bad != nil {
			bad.Index = i
			errs = append(errs, bad)
			continue
		}
		s.expectations = append(s.expectations, e)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Compiler) one(text string) (*expectation, *Error) {
	if e, ok := c.known[text]; ok {
		return e, nil
	}
	if c.env == nil {
		env, err := newEnv()
		if err != nil {
			return nil, &Error{Expression: text, Problem: "preparing CEL: " + err.Error()}
		}
		c.env, c.known = env, map[string]*expectation{}
	}
	e, bad := compile(c.env, text)
	if bad != nil {
		return nil, bad
	}
	c.known[text] = e
	return e, nil
}

// newEnv declares what an expression can look at.
func newEnv() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("status", cel.IntType),
		cel.Variable("latency", cel.DurationType),
		cel.Variable("proto", cel.StringType),
		cel.Variable("tls", cel.StringType),
		cel.Variable("certificate", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("headers", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("body", cel.StringType),
		cel.Variable("json", cel.DynType),
		cel.Variable("grpc", cel.MapType(cel.StringType, cel.DynType)),
		// json.n is an int or a double as it comes: both compare with 2 and 2.0.
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ExpressionNodeLimit(maxNodes),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(),
			cel.ValidateComprehensionNestingLimit(maxNesting),
		),
	)
}

func compile(env *cel.Env, text string) (*expectation, *Error) {
	if strings.TrimSpace(text) == "" {
		return nil, &Error{Expression: text, Problem: "is empty", Fix: "want an expression such as status == 200"}
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, explain(text, issues)
	}
	if out := checked.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, &Error{
			Expression: text, Problem: fmt.Sprintf("gives %s, not true or false", typeName(out.String())),
			Fix: "want a comparison such as " + exampleFor(strings.TrimSpace(text)),
		}
	}
	e := &expectation{expression: text}
	if bad := e.inspect(checked.NativeRep()); bad != nil {
		return nil, bad
	}
	var err error
	e.program, err = env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		return nil, &Error{Expression: text, Problem: "does not compile: " + clip(err.Error())}
	}
	return e, nil
}

// exampleFor completes an expression that compares nothing.
func exampleFor(text string) string {
	switch text {
	case "status":
		return "status == 200"
	case "latency":
		return `latency < duration("300ms")`
	}
	return "status == 200 or size(json.days) == 2"
}
