package report

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// clientGroup are clients for which the same comes of a dead connection.
type clientGroup struct {
	title string
	ink   ink
	has   func(probes.ClientOutcome) bool
}

// clientGroups are in the order of harm; each client stands in the first that
// has it.
func clientGroups() []clientGroup {
	fails := func(r probes.ClientResult) bool { return r == probes.ClientFails }
	return []clientGroup{
		{"The application gets an error:", inkBad, func(c probes.ClientOutcome) bool { return fails(c.Result) }},
		{
			"A GET is sent again in silence (while its own retries are on), a POST gets an error:", inkWarn,
			func(c probes.ClientOutcome) bool { return fails(c.PostResult) && c.Result == probes.ClientRetries },
		},
		{"The application gets an error for a POST:", inkWarn, func(c probes.ClientOutcome) bool { return fails(c.PostResult) }},
		{
			"Only a silent retry, which the application does not see:", inkWarn,
			func(c probes.ClientOutcome) bool { return c.Result == probes.ClientRetries },
		},
		{"Not known:", inkFaint, func(probes.ClientOutcome) bool { return true }},
	}
}

// clients tells what each client would meet on this path, those that harm the
// application first. Those that meet nothing share a row.
func (p *page) clients(run probes.Run) {
	clients := run.Clients
	if len(clients) == 0 {
		return
	}
	p.hang(nil, span{inkStrong, "What HTTP clients would meet here, with their own defaults"})
	kind, left := 0, []probes.ClientOutcome{}
	for _, c := range clients {
		if c.Band != nil {
			kind = max(kind, width(clean(c.Kind)))
			left = append(left, c)
		}
	}
	for _, g := range clientGroups() {
		var others []probes.ClientOutcome
		titled := false
		for _, c := range left {
			if !g.has(c) {
				others = append(others, c)
				continue
			}
			if !titled {
				p.hang([]span{plain(margin)}, span{g.ink, g.title})
				titled = true
			}
			p.client(c, kind, noneSafe(run))
		}
		left = others
	}
	p.unharmed(clients)
	if kind > 0 {
		p.hang([]span{plain(margin)}, span{inkFaint, bandsExplained(run)})
	}
	p.gap()
}

// bandsExplained says what the words beside the clients mean on this path. An
// end that nobody saw came somewhere between what worked and what did not: only
// what worked is safe.
func bandsExplained(run probes.Run) string {
	const band = "Danger band: idle ages at which the client would use a connection that is closed already. "
	for _, i := range run.Idle {
		switch {
		case i.How == "" || i.Measured > 0:
		case i.Survived >= i.Died:
			return fmt.Sprintf("%sNo end was seen, and what worked and what did not contradict each other: %s worked, %s did not. No setting can be told from that.", band, age(i.Survived), age(i.Died))
		case i.Survived > 0:
			return fmt.Sprintf("%sNo end was seen: one came between %s, which worked, and %s. Safe: its own setting that stays below what worked.", band, age(i.Survived), age(i.Died))
		default:
			return fmt.Sprintf("%sNo end was seen, and nothing worked: one came before %s. A shorter --max would tell what is safe.", band, age(i.Died))
		}
	}
	return band + "Safe: its own setting that ends the band, from what was measured less a margin for round trip and ticks."
}

// noneSafe reports whether no idle age is known to be safe: no end was seen, and
// no hold worked.
func noneSafe(run probes.Run) bool {
	return slices.ContainsFunc(run.Idle, func(i probes.IdleResult) bool {
		return i.How != "" && i.Measured == 0 && (i.Survived == 0 || i.Survived >= i.Died)
	})
}

// client is one client with its band, what it does inside it, and what would
// keep it out.
func (p *page) client(c probes.ClientOutcome, kind int, noneSafe bool) {
	const indent, label = "    ", 6
	p.hang([]span{plain(indent), plain(c.Kind).padded(kind + 2)}, span{inkWarn, "danger band " + bandWords(c.Band)})
	say := func(name string, text span) {
		p.hang([]span{plain(indent + margin), span{inkFaint, name}.padded(label)}, text)
	}
	get, post := c.Experiences, c.Post
	switch {
	case post == "" && c.Result == probes.ClientFails:
		say("call", plain(get))
	case post != "" && c.Result != probes.ClientRetries:
		say("GET", plain(get))
		say("POST", plain(post))
	case post != "": // the title tells of the GET
		say("POST", plain(post))
	}
	if c.Safe == "" && noneSafe {
		say("safe", span{inkFaint, "not known: no hold is known to be safe"})
		return
	}
	if c.Safe == "" {
		say("safe", span{inkFaint, "none of its own settings ends the band"})
		return
	}
	say("safe", span{inkGood, c.Safe})
}

// unharmed tells of the clients without a danger band, by what keeps them out.
func (p *page) unharmed(clients []probes.ClientOutcome) {
	var why []string
	kinds := map[string][]string{}
	for _, c := range clients {
		if c.Band != nil {
			continue
		}
		if kinds[c.Experiences] == nil {
			why = append(why, c.Experiences)
		}
		kinds[c.Experiences] = append(kinds[c.Experiences], c.Kind)
	}
	if len(why) == 0 {
		return
	}
	p.hang([]span{plain(margin)}, span{inkGood, "No danger band, safe as they come:"})
	for _, text := range why {
		names := strings.Join(kinds[text], ", ")
		if text != "" {
			text = ": " + text
		}
		p.hang([]span{plain("    ")}, plain(names+text))
	}
}
