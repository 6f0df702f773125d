// Package clients is the catalog: what each HTTP client does with each thing
// that the wire can show, how its errors are related, and how its settings are
// written. Every fact carries its source. The package is pure data and the
// functions that read it; to add a client, write its constructor and list it
// in catalog.
package clients
