// Package soak has no code of its own: its tests, behind the build tag soak, let
// a real perch serve run among things that fail for as long as one has patience,
// and weigh it against prometheus-blackbox-exporter.
package soak
