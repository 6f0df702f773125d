package report

import (
	"strings"

	"perch.example/probes"
)

// htmlClients is what the common clients would meet on a path that perch idle
// measured, in the groups and the words of the text.
type htmlClients struct {
	Groups    []htmlClientGroup
	Unharmed  []htmlUnharmed
	Explained string
}

type htmlClientGroup struct {
	Class, Title string
	Clients      []htmlClient
}

type htmlClient struct{ Kind, Band, Get, Post, Safe string }

type htmlUnharmed struct{ Kind, Words string }

func clientTable(run probes.Run) *htmlClients {
	if len(run.Clients) == 0 {
		return nil
	}
	out := &htmlClients{Explained: bandsExplained(run)}
	var left []probes.ClientOutcome
	for _, c := range run.Clients {
		if c.Band != nil {
			left = append(left, c)
			continue
		}
		words := c.Experiences
		switch {
		case c.KeepBelow > 0 && c.Safe != "":
			words += "; keep max idle below " + age(c.KeepBelow) + ": " + inCode(c.Safe)
		case c.KeepBelow > 0:
			words += "; none of its own settings keeps idle below " + age(c.KeepBelow)
		case words == "":
			words = "no danger band: safe as it comes"
		}
		out.Unharmed = append(out.Unharmed, htmlUnharmed{c.Kind, words})
	}
	for _, g := range clientGroups() {
		var others []probes.ClientOutcome
		group := htmlClientGroup{Title: g.title, Class: "degraded"}
		if g.ink == inkBad {
			group.Class = "fail"
		}
		for _, c := range left {
			if !g.has(c.Result, c.PostResult) {
				others = append(others, c)
				continue
			}
			group.Clients = append(group.Clients, newHTMLClient(c, noneSafe(run)))
		}
		if len(group.Clients) > 0 {
			out.Groups = append(out.Groups, group)
		}
		left = others
	}
	return out
}

func newHTMLClient(c probes.ClientOutcome, noneSafe bool) htmlClient {
	out := htmlClient{Kind: c.Kind, Band: bandWords(c.Band), Get: made(c.Experiences, c.Result).text, Safe: c.Safe}
	if out.Post = made(c.Post, c.PostResult).text; c.Post == "" && c.Result == c.PostResult {
		out.Post = "the same"
	}
	switch {
	case c.Safe != "":
		out.Safe = inCode(c.Safe)
	case noneSafe:
		out.Safe = "not known: no hold is known to be safe"
	default:
		out.Safe = "none of its own settings ends the band"
	}
	return out
}

// inCode marks a client's own syntax as such.
func inCode(setting string) string {
	if strings.Contains(setting, "`") {
		return setting
	}
	return "`" + setting + "`"
}
