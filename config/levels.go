package config

import (
	"maps"
	"strings"
)

// levels resolves defaults < target < probe, so that each target and each probe
// holds everything that it is to do. Maps merge, headers and parameters merge by
// name, other lists replace.
func levels(joined map[string]any) map[string]any {
	out := maps.Clone(joined)
	defaults, _ := out["defaults"].(map[string]any)
	delete(out, "defaults")
	targets, _ := out["targets"].([]any)
	resolved := make([]any, 0, len(targets))
	own, shared := value{fields: targetFields()}, value{fields: sharedFields()}
	forTarget := overlay(builtins(own), defaults)
	forProbe := overlay(builtins(shared), pick(defaults, shared))
	for _, t := range targets {
		given := t.(map[string]any)
		target := overlay(forTarget, given)
		inherited := overlay(forProbe, pick(given, shared))
		probes, _ := given["probes"].([]any)
		merged := make([]any, 0, len(probes))
		for _, p := range probes {
			merged = append(merged, overlay(inherited, p.(map[string]any)))
		}
		target["probes"] = merged
		resolved = append(resolved, target)
	}
	out["targets"] = resolved
	return out
}

// builtins returns what the table says holds when nobody says anything.
func builtins(v value) map[string]any {
	out := map[string]any{}
	for _, f := range v.fields {
		switch {
		case f.value.shape == mapping:
			if sub := builtins(f.value); len(sub) > 0 {
				out[f.key] = sub
			}
		case f.builtin == nil:
		case f.value.shape == scalar:
			out[f.key] = f.value.builtin(f.builtin)
		default:
		}
	}
	return out
}

// pick returns m's keys that v knows.
func pick(m map[string]any, v value) map[string]any {
	out := map[string]any{}
	for _, f := range v.fields {
		if got, ok := m[f.key]; ok {
			out[f.key] = got
		}
	}
	return out
}

// overlay merges settings, the later ones winning. It changes none of them.
func overlay(layers ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, layer := range layers {
		for key, over := range layer {
			out[key] = combine(key, out[key], over)
		}
	}
	return out
}

func combine(key string, under, over any) any {
	underMap, ok := under.(map[string]any)
	if overMap, is := over.(map[string]any); ok && is {
		return overlay(underMap, overMap)
	}
	underList, ok := under.([]any)
	overList, is := over.([]any)
	switch {
	case !ok || !is:
		return over
	case key == "headers":
		return byName(underList, overList, strings.ToLower)
	case key == "query":
		return byName(underList, overList, func(s string) string { return s })
	}
	return over
}

// byName keeps what is under unless its name is given again.
func byName(under, over []any, same func(string) string) []any {
	given := map[string]bool{}
	for _, item := range over {
		given[same(nameOf(item))] = true
	}
	var out []any
	for _, item := range under {
		if !given[same(nameOf(item))] {
			out = append(out, item)
		}
	}
	return append(out, over...)
}

func nameOf(item any) string {
	m, _ := item.(map[string]any)
	s, _ := m["name"].(string)
	return s
}
