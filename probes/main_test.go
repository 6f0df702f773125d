package probes

import (
	"os"
	"testing"

	"perch.example/internal/waiting"
)

func TestMain(m *testing.M) {
	waiting.Beside(16)
	os.Exit(m.Run())
}
