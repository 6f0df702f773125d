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
	has   func(get, post probes.ClientResult) bool
	told  bool // the title tells what comes of both methods
}

// clientGroups are in the order of harm; each client with a danger band stands
// in the first that has it.
func clientGroups() []clientGroup {
	const fails, retries, notices = probes.ClientFails, probes.ClientRetries, probes.ClientNotices
	return []clientGroup{
		{"The application gets an error:", inkBad, func(get, _ probes.ClientResult) bool { return get == fails }, false},
		{
			"A GET is sent again in silence (while its own retries are on), a POST gets an error:", inkWarn,
			func(get, post probes.ClientResult) bool { return get == retries && post == fails }, false,
		},
		{"The application gets an error for a POST:", inkWarn, func(_, post probes.ClientResult) bool { return post == fails }, false},
		{
			"A GET is sent again in silence, a POST looks first and uses another connection:", inkWarn,
			func(get, post probes.ClientResult) bool { return get == retries && post == notices }, true,
		},
		{
			"A silent retry, of a GET as of a POST, which the application does not see:", inkWarn,
			func(get, post probes.ClientResult) bool { return get == retries && post == retries }, true,
		},
		{"Not known, or not of each method:", inkFaint, func(_, _ probes.ClientResult) bool { return true }, false},
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
			if !g.has(c.Result, c.PostResult) {
				others = append(others, c)
				continue
			}
			if !titled {
				p.hang([]span{plain(margin)}, span{g.ink, g.title})
				titled = true
			}
			p.client(c, kind, g.told, noneSafe(run))
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
// keep it out. told: the title above tells what it does.
func (p *page) client(c probes.ClientOutcome, kind int, told, noneSafe bool) {
	const indent, label = "    ", 6
	p.hang([]span{plain(indent), plain(c.Kind).padded(kind + 2)}, span{inkWarn, "danger band " + bandWords(c.Band)})
	say := func(name string, text span) {
		p.hang([]span{plain(indent + margin), span{inkFaint, name}.padded(label)}, text)
	}
	get, post := made(c.Experiences, c.Result), made(c.Post, c.PostResult)
	switch {
	case told:
	case c.Post == "" && c.Result == c.PostResult:
		say("call", get)
	case c.Result == probes.ClientRetries && c.PostResult == probes.ClientFails: // the title tells of the GET
		say("POST", post)
	default:
		say("GET", get)
		say("POST", post)
	}
	switch {
	case c.Safe != "":
		say("safe", span{inkGood, c.Safe})
	case noneSafe:
		say("safe", span{inkFaint, "not known: no hold is known to be safe"})
	default:
		say("safe", span{inkFaint, "none of its own settings ends the band"})
	}
}

// made is what a client makes of a request on a dead connection, or that
// nobody knows it.
func made(text string, r probes.ClientResult) span {
	if r == "" || text == "" {
		return span{inkFaint, "not known: what it makes of a request on a connection that ended so"}
	}
	return plain(text)
}

// unharmed tells of the clients without a danger band: those that drop every
// connection well before the path ends it, and those that look, or drop it at
// about the same moment: a close that crosses the request they cannot see.
func (p *page) unharmed(clients []probes.ClientOutcome) {
	var safe, race []probes.ClientOutcome
	for _, c := range clients {
		switch {
		case c.Band != nil:
		case c.KeepBelow > 0:
			race = append(race, c)
		default:
			safe = append(safe, c)
		}
	}
	p.alikes(span{inkGood, "No danger band, safe as they come:"}, safe)
	p.alikes(span{inkWarn, "No danger band, but a race of one round trip remains (the close can cross a request):"}, race)
}

// alikes names the clients of which the same is said in one row.
func (p *page) alikes(title span, clients []probes.ClientOutcome) {
	var said []string
	kinds := map[string][]string{}
	for _, c := range clients {
		text := c.Experiences
		switch {
		case c.KeepBelow > 0 && c.Safe != "":
			text += "; keep max idle below " + age(c.KeepBelow)
		case c.KeepBelow > 0:
			text += "; none of its own settings keeps idle below " + age(c.KeepBelow)
		}
		if kinds[text] == nil {
			said = append(said, text)
		}
		kinds[text] = append(kinds[text], c.Kind)
	}
	if len(said) == 0 {
		return
	}
	p.hang([]span{plain(margin)}, title)
	for _, text := range said {
		names := strings.Join(kinds[text], ", ")
		if text = strings.TrimPrefix(text, "; "); text != "" {
			text = ": " + text
		}
		p.hang([]span{plain("    ")}, plain(names+text))
	}
}
