// Package clients is the catalog: what each HTTP client does with each thing
// that the wire can show, how its errors are related, and how its settings are
// written. Every fact carries its source. The data is catalog.yaml, whose head
// says how to read it and how to add a client; load.go and reading.go type it,
// and the rest asks it. docs/clients.md is made from it.
package clients
