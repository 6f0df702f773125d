package main

import (
	"time"

	"perch.example/probes"
)

// The budget of OAuth2 token requests is kept with the targets' daily counts, each
// endpoint's host under a name that no target can have. The tokens themselves are
// never kept.

func tokensAt(host string) string { return "oauth2 " + host }

// tokensSent is how many token requests earlier runs of the day sent to a host.
func (p *pass) tokensSent(now time.Time) func(host string) int {
	sent := map[string]int{}
	for _, t := range p.cfg.Targets {
		for _, s := range t.Probes {
			if s.OAuth != nil {
				sent[s.OAuth.Host()] = p.doc.RequestsToday(tokensAt(s.OAuth.Host()), now)
			}
		}
	}
	return func(host string) int { return sent[host] }
}

// reserveTokens reserves what a run that is killed has asked for at least: a token
// of each kind that its steps want.
func (p *pass) reserveTokens(most map[string]int) {
	seen := map[string]bool{}
	for _, s := range p.plan.Steps {
		if o := s.Spec.OAuth; o != nil && !seen[o.Key()] {
			seen[o.Key()] = true
			most[tokensAt(o.Host())]++
		}
	}
}

func (p *pass) countTokens(run probes.Run) {
	for host, n := range run.Tokens {
		p.doc.AddRequests(tokensAt(host), run.Finished, n)
	}
}
