package expect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// jsonTrouble begins the errors of parseJSON, which hold nothing of the body.
const jsonTrouble = "json: "

// maxWeight bounds what a body becomes in memory: a megabyte of `{"":1},` would
// be 47 MB of maps. Objects weigh 5, lists 2, other values 1: at most about
// 15 MB, and an ordinary megabyte of JSON weighs a third of it.
const maxWeight = 250_000

// parseJSON returns the body as a CEL value, or a CEL error.
func parseJSON(body []byte) ref.Val {
	if len(bytes.TrimSpace(body)) == 0 {
		return types.NewErr("%sthe body is empty, not JSON", jsonTrouble)
	}
	if weight(body) > maxWeight {
		return types.NewErr("%sthe body holds more JSON values than perch looks at", jsonTrouble)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return types.NewErr("%sthe body is not JSON", jsonTrouble)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return types.NewErr("%sthe body is JSON and then something else", jsonTrouble)
	}
	return types.DefaultTypeAdapter.NativeToValue(numbers(v))
}

// weight is an upper bound of a body's cost, found without building anything.
func weight(body []byte) int {
	total, inString := 1, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{':
			total += 5
		case b == '[':
			total += 2
		case b == ',':
			total++
		}
	}
	return total
}

// numbers turns whole JSON numbers into ints and others into doubles, in place:
// json.n + 1 then works for what looks like an int.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = numbers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = numbers(item)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // beyond a double's range: infinite, which compares rightly
		return f
	}
	return v
}
