//go:build !peers

package wire_test

// stress says that no test loads the machine by itself.
const stress = false
