package report

import (
	"bytes"
	"strings"
	"testing"

	"perch.example/probes"
)

// A print that goes another way than the probes says so.
func TestFingerprintSaysItsWay(t *testing.T) {
	f := probes.Fingerprint{Paths: []probes.PathPrint{{Scheme: "https", Host: "api.example", Port: "443", Proxy: "http://e:1", Ways: []string{"unix socket /run/api.sock"}}}}
	var b bytes.Buffer
	if err := Fingerprint(&b, f, nil, Style{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	if !strings.Contains(text, "probes connect otherwise than this print, which goes straight to the host: unix socket /run/api.sock") || strings.Contains(text, "probes go through it") {
		t.Error(text)
	}
}
