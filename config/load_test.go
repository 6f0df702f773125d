package config

import "testing"

func TestExamples(t *testing.T) {
	if _, err := Load("../examples/minimal.yaml", Options{}); err != nil {
		t.Fatal(err)
	}
}
