//go:build peers

package peers

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// unloadable are the catalog's classes that no package of Debian 12 has, by
// what their names hold, with the reason. They stay documented.
func unloadable() map[string]string {
	return map[string]string{
		"feign.":                    "Debian 12 has no Feign",
		"reactor.netty.":            unplayed()["reactor-netty"],
		"io.netty.":                 unplayed()["reactor-netty"],
		".web.reactive.":            "Debian 12 has no Spring WebFlux",
		"HttpClientErrorException$": "a class for each status came with Spring 5.1; Debian 12 has 4.3",
		"HttpServerErrorException$": "a class for each status came with Spring 5.1; Debian 12 has 4.3",
	}
}

// clientKinds is what a class is, as its language says: itself first. Empty: it
// cannot be loaded.
type clientKinds struct {
	ID    string
	Kinds []string
}

// TestCatalogHierarchiesAreTheRealOnes loads each class that a retry list can
// name and compares what it is with what the catalog says. Codes of Node,
// libcurl and Go are no classes: TestClientsDoWhatTheCatalogSays meets them.
func TestCatalogHierarchiesAreTheRealOnes(t *testing.T) {
	programs := newPrograms(t)
	for _, r := range clientRuns() {
		if r.name != "java" && r.name != "python" {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			parents := map[string][]string{}
			for _, kind := range clients.Kinds() {
				if client, _ := clients.Lookup(kind); !strings.EqualFold(client.Language, r.name) {
					continue
				}
				for _, wrapper := range append(clients.Wrappers(), "") {
					if wrapper != "" && !clients.Wraps(wrapper, kind) {
						continue
					}
					maps.Copy(parents, clients.Hierarchy(probes.Client{Kind: kind, WrappedBy: wrapper}))
				}
			}
			names := slices.Sorted(maps.Keys(parents))
			for _, class := range runClients[clientKinds](t, append(programs.argv(t, r), "classes"), names) {
				checkClass(t, class, parents[class.ID])
			}
			t.Logf("%d classes", len(names))
		})
	}
}

func checkClass(t *testing.T, class clientKinds, parents []string) {
	t.Helper()
	why := ""
	for part, reason := range unloadable() {
		if strings.Contains(class.ID, part) {
			why = reason
		}
	}
	switch {
	case len(class.Kinds) == 0 && why == "":
		t.Errorf("%s: no such class", class.ID)
	case len(class.Kinds) > 0 && why != "":
		t.Errorf("%s can be loaded, though the list says: %s", class.ID, why)
	}
	for _, parent := range parents {
		if len(class.Kinds) > 0 && !slices.Contains(class.Kinds, realName(parent)) {
			t.Errorf("%s is (catalog) also %s, got (measured) %v", class.ID, parent, class.Kinds)
		}
	}
}
