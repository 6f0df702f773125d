package config

import (
	"testing"
	"time"

	"perch.example/probes"
)

func TestOTLP(t *testing.T) {
	c, err := parseFile(t, "testdata/good/otlp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "otlp", c.OTLP, OTLP{
		Endpoint: "https://otlp.example/tenant", Metrics: true, Histograms: "explicit", Timeout: 5 * time.Second,
		Headers: []probes.Field{
			{Name: "Authorization", Prefix: "Bearer ", From: probes.Source{Env: "OTLP_TOKEN"}}, {Name: "X-Scope-OrgID", Value: "shop"},
		},
		CAFile: "/etc/perch/ca.pem", CertFile: "/etc/perch/client.pem", KeyFile: "/etc/perch/client-key.pem",
	})
	c, err = parseFile(t, "testdata/good/contract.yaml")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "otlp that is left out", c.OTLP, OTLP{Traces: true, Histograms: "exponential", Timeout: 10 * time.Second})
}
