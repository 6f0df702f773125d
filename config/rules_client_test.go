package config

import (
	"slices"
	"testing"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// TestMisspeltErrors: what is nearly an error of the client is doubted, with
// its line; what is one, by any of its names, or the application's own is not.
func TestMisspeltErrors(t *testing.T) {
	c := load(t, Options{}, `version: 1
defaults:
  client:
    kind: apache-httpclient-4.5
    retry:
      layer: inside
      attempts: 2
      errors:
        - org.apache.http.NoHttpResponseExeption
targets:
  - {name: inherits, url: "https://a.example", probes: [{name: p, kind: http}]}
  - name: says
    url: https://b.example
    client:
      wrapped_by: spring-resttemplate
      retry:
        errors:
          - NoHttpResponseExeption
          - nohttpresponseexception
          - NoHttpResponseException
          - org.springframework.web.client.ResourceAccesException
          - org.springframework.web.client.HttpServerErrorException.ServiceUnavailable
          - org.springframework.web.client.HttpServerErrorException
          - org.springframework.web.client.RestClientException
          - java.io.EOFException
          - com.shop.StockException
          - 503
          - 5xx
    probes: [{name: p, kind: http}]
`)
	const spring = "org.springframework.web.client."
	says := func(place, who, entry, meant string) string {
		return place + ": " + who + " gives no error called \"" + clip(entry) + "\", so that this entry covers nothing; did you mean \"" + meant + "\"?"
	}
	const both = "apache-httpclient-4.5 or spring-resttemplate"
	equal(t, "warnings", c.Warnings, []string{
		says("perch.yaml:9: defaults.client.retry.errors[0]", "apache-httpclient-4.5", "org.apache.http.NoHttpResponseExeption", "org.apache.http.NoHttpResponseException"),
		says("perch.yaml:18: targets[1].client.retry.errors[0]", both, "NoHttpResponseExeption", "NoHttpResponseException"),
		says("perch.yaml:19: targets[1].client.retry.errors[1]", both, "nohttpresponseexception", "NoHttpResponseException"),
		says("perch.yaml:21: targets[1].client.retry.errors[3]", both, spring+"ResourceAccesException", spring+"ResourceAccessException"),
		says("perch.yaml:22: targets[1].client.retry.errors[4]", both, spring+"HttpServerErrorException.ServiceUnavailable", spring+"HttpServerErrorException$ServiceUnavailable"),
	})
}

// TestTheCatalogDoubtsNoneOfItsNames: each error of each client, whole and by
// its last part, behind each layer that fits.
func TestTheCatalogDoubtsNoneOfItsNames(t *testing.T) {
	for _, kind := range clients.Kinds() {
		for _, wrapper := range append(clients.Wrappers(), "") {
			if wrapper != "" && !clients.Wraps(wrapper, kind) {
				continue
			}
			names := clients.Names(probes.Client{Kind: kind, WrappedBy: wrapper})
			if len(names) == 0 || wrapper != "" && !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(clients.Names(probes.Client{Kind: kind}), n) }) {
				t.Errorf("%s, %q: the names are %q", kind, wrapper, names)
			}
			for _, name := range names {
				for _, entry := range []string{name, lastPart(name)} {
					if near := nearError(entry, names); near != "" {
						t.Errorf("%s, %q: %s is taken for a misspelt %s", kind, wrapper, entry, near)
					}
				}
			}
		}
	}
}
