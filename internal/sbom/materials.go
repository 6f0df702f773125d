package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path"
	"runtime/debug"
	"strings"
)

// bom is what is used of a CycloneDX 1.6 document.
type bom struct {
	Schema     string      `json:"$schema"`
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// materials lists the modules of a program whose file is given, and Go's own
// packages. It names no time and no random number: one program, one document.
func materials(info *debug.BuildInfo, file []byte, version string) bom {
	if version == "" {
		version = info.Main.Version
	}
	program := module("application", info.Main.Path, version)
	program.Name = path.Base(info.Path)
	sum := sha256.Sum256(file)
	program.Hashes = []hash{{Algorithm: "SHA-256", Content: hex.EncodeToString(sum[:])}}
	for _, s := range info.Settings {
		program.Properties = append(program.Properties, property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	// Scanners know Go's own packages by this name, and its versions without "go".
	all := []component{module("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := module("library", m.Path, m.Version)
		c.Hashes = sums(m.Sum)
		all = append(all, c)
	}
	return bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{Component: program}, Components: all,
	}
}

func module(kind, name, version string) component {
	purl := "pkg:golang/" + name
	if version != "" {
		purl += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	return component{Ref: purl, Type: kind, Name: name, Version: version, PURL: purl}
}

// sums gives a line of go.sum as other tools for Go do: the SHA-256 of the list
// of the module's files, in hexadecimal. None for a folder in a module's place.
func sums(line string) []hash {
	encoded, is := strings.CutPrefix(line, "h1:")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !is || err != nil {
		return nil
	}
	return []hash{{Algorithm: "SHA-256", Content: hex.EncodeToString(raw)}}
}
