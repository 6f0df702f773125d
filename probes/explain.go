package probes

import (
	"perch.example/probes/wire"
)

// Explain returns one short sentence of what was seen, with measured values,
// for people. It names no byte of what was sent or received.
func Explain(e wire.Evidence) string {
	return string(Classify(e))
}
