//go:build schemas

package main

// CycloneDX's schemas lie in this module's folder: k8s/sbom_peers_test.go reads
// them there.
import _ "github.com/CycloneDX/cyclonedx-go"
