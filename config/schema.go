package config

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Schema returns the JSON Schema (draft 2020-12) of a config file, for editors.
// It is printed from the table that Load walks; what is not served yet is not in
// it. It knows a file's structure: what only the whole can show (names given
// twice, a push without state, an expectation's own grammar) Load tells.
func Schema() ([]byte, error) {
	root := schemaOf(table())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "perch config"
	delete(root, "required") // a folder's files need not be whole by themselves
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("printing the schema: %w", err)
	}
	return append(out, '\n'), nil
}

func schemaOf(v value) map[string]any {
	out := maps.Clone(v.schema)
	if out == nil {
		out = map[string]any{}
	}
	switch v.shape {
	case scalar:
	case list:
		out["type"], out["items"] = "array", schemaOf(*v.item)
		out["minItems"], out["maxItems"] = v.min, v.max
	case mapping:
		properties := map[string]any{}
		var required []string
		for _, f := range v.fields {
			if f.later != "" {
				continue
			}
			sub := schemaOf(f.value)
			sub["description"] = f.doc
			if f.builtin != nil {
				sub["default"] = f.builtin
			}
			properties[f.key] = sub
			if f.required {
				required = append(required, f.key)
			}
		}
		out["type"], out["properties"], out["additionalProperties"] = "object", properties, false
		if required != nil {
			out["required"] = required
		}
	}
	return out
}
