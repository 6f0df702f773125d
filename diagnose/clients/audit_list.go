package clients

import (
	"fmt"

	"perch.example/probes"
)

// Known returns every client of the catalog in words, in the order in which
// they are shown, for people who look up how to declare theirs.
func Known() []probes.KnownClient {
	var known []probes.KnownClient
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		k := probes.KnownClient{
			Kind: kind, Name: c.Name + ", " + c.Language, Versions: c.Versions, Measured: c.Measured,
			Idle: c.idleWords(), Looks: c.looksWords(), Retries: c.Retries.Does,
		}
		if c.Retries.Off != "" {
			k.Retries += "; off with " + c.Retries.Off
		}
		for _, wrapper := range Wrappers() {
			if Wraps(wrapper, kind) {
				k.Wrappers = append(k.Wrappers, wrapper)
			}
		}
		known = append(known, k)
	}
	return known
}

func (c Client) idleWords() string {
	text := "none of its own"
	if c.Idle.Limit.Mode == probes.LimitAfter {
		text = seconds(c.Idle.Limit.After) + " s"
	}
	switch {
	case c.Idle.Hint && c.Idle.Margin > 0:
		text += fmt.Sprintf("; obeys Keep-Alive: timeout=N, less %s s", seconds(c.Idle.Margin))
	case c.Idle.Hint:
		text += "; obeys Keep-Alive: timeout=N"
	}
	return text
}

func (c Client) poolWords() string {
	text := map[probes.PoolOrder]string{
		probes.PoolLIFO:   "the one that was used last (LIFO)",
		probes.PoolFIFO:   "the one that has been idle for longest (FIFO)",
		probes.PoolOldest: "the one that was opened first",
	}[c.Pool.Order]
	if c.Pool.How != "" {
		text += "; " + c.Pool.How
	}
	return text
}

func (c Client) looksWords() string {
	switch c.Looks.Limit.Mode {
	case probes.LimitAfter:
		return fmt.Sprintf("from %s s of idleness on (%s)", seconds(c.Looks.Limit.After), c.Looks.How)
	case probes.LimitAlways:
		return "always (" + c.Looks.How + ")"
	case probes.LimitDefault, probes.LimitNone:
	}
	return c.Looks.How // as OkHttp, which looks before a POST only
}
