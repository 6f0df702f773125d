package config

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"time"

	"perch.example/probes"
)

// LoadPolicy reads what a platform team allows, from one file. One that is wrong
// gives an *Errors with every mistake; another error means that it could not be
// read. There is no policy that holds in part: on any error nothing may be sent.
func LoadPolicy(path string) (*probes.Policy, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for its writer
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the policy: %q is no file", path)
	}
	data, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	return ParsePolicy(File{path, data})
}

// ParsePolicy is LoadPolicy for bytes that are there already.
func ParsePolicy(f File) (*probes.Policy, error) {
	c := newChecker(Options{})
	c.root, c.example = policyTable(), "want version and rules; docs/policy.md has a sample"
	t, ok := c.parse(f)
	if !ok || len(c.mistakes) > 0 {
		return nil, &Errors{ordered(c.mistakes)}
	}
	return c.policy(t), nil
}

// policy turns checked values into those that perch works with.
func (c *checker) policy(t tree) *probes.Policy {
	out := &probes.Policy{
		File: t.file, Lines: map[string]int{},
		Hosts: listed[string](t.values, "hosts"), Networks: listed[netip.Prefix](t.values, "networks"),
		DeniedNetworks: listed[netip.Prefix](t.values, "denied_networks"), Methods: listed[string](t.values, "methods"),
		MaxShare: of[float64](t.values, "max_share"), MaxRate: of[float64](t.values, "max_rate"),
		MaxDailyLimit: of[int](t.values, "max_daily_limit"), MaxConnections: of[int](t.values, "max_connections"),
		MinEvery: of[time.Duration](t.values, "min_every"), MaxHold: of[time.Duration](t.values, "max_hold"),
	}
	for key := range t.values {
		out.Lines[key] = c.at(place{file: t.file}, key).line
	}
	for _, one := range listed[map[string]any](t.values, "fleet") {
		at, _ := one[positionKey].(place)
		out.Fleet = append(out.Fleet, probes.HostLimit{
			Host: of[string](one, "host"), Line: at.line, RateLimit: of[float64](one, "rate_limit"), Share: of[float64](one, "share"),
			DailyLimit: of[int](one, "daily_limit"), MaxConnections: of[int](one, "max_connections"),
		})
	}
	return out
}

// of is a checked value, or its zero where the key is not written.
func of[T any](values map[string]any, key string) T {
	got, _ := values[key].(T)
	return got
}

// listed are a checked list's items.
func listed[T any](values map[string]any, key string) []T {
	items, _ := values[key].([]any)
	var out []T
	for _, item := range items {
		if got, ok := item.(T); ok {
			out = append(out, got)
		}
	}
	return out
}

// PolicySchema is Schema for a policy's file.
func PolicySchema() ([]byte, error) {
	root := schemaOf(policyTable())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "perch policy"
	root["minProperties"] = 2 // version, and a rule
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("printing the policy's schema: %w", err)
	}
	return append(out, '\n'), nil
}
