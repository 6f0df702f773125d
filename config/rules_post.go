package config

// wherePost is the schema of a probe that is a POST by its own level: it says
// why. What a level above says, Load alone sees.
func wherePost() map[string]any {
	return map[string]any{
		"if":   map[string]any{"required": []string{"method"}, "properties": map[string]any{"method": map[string]any{"const": "POST"}}},
		"then": map[string]any{"required": []string{"read_only"}},
	}
}
