package clients

import (
	"net/http"
	"strings"
	"time"

	"perch.example/probes"
)

// Met says what each common client would meet on a path, with its own defaults:
// with a GET and with a POST, on a connection that met path.End at the measured
// timeout, or where its danger band begins. Over HTTP/2 only those are in it of
// which it is known. host stands in the clients' texts.
func Met(path Path, host string) []probes.ClientOutcome {
	var out []probes.ClientOutcome
	for _, c := range Common() {
		c.HTTP2 = path.HTTP2
		if client, _ := Lookup(c.Kind); path.HTTP2 && !client.saysOf(path.End) {
			continue
		}
		out = append(out, met(c, path, host))
	}
	return out
}

func met(c probes.Client, path Path, host string) probes.ClientOutcome {
	o := probes.ClientOutcome{Kind: c.Kind, Band: BandOn(c, path), Safe: SafeSetting(c, path)}
	idle := path.Timeout
	if o.Band != nil {
		idle = o.Band.From
	} else {
		o.KeepBelow, o.Safe = races(c, path)
	}
	get, gets, _ := Experience(c, path.End, http.MethodGet, idle)
	post, posts, _ := Experience(c, path.End, http.MethodPost, idle)
	if post == get {
		post = ""
	}
	named := strings.NewReplacer("<host>", host)
	o.Experiences, o.Result = named.Replace(get), gets.Outcome()
	o.Post, o.PostResult = named.Replace(post), posts.Outcome()
	return o
}

// races returns the idle limit below which no request of a client without a
// danger band can cross the path's close, which no look sees, and the client's
// setting that says so: empty where none can. 0: its own limit is below that.
func races(decl probes.Client, path Path) (time.Duration, string) {
	client, known := Lookup(decl.Kind)
	safe := path.Safe()
	if !known || safe <= 0 {
		return 0, ""
	}
	if limit := client.Idle.latest(client.MaxIdle(decl, path.Advertised)); limit.Mode == probes.LimitAfter && limit.After <= safe {
		return 0, ""
	}
	below := client.Idle.Settable(safe)
	if below <= 0 {
		return safe, ""
	}
	return below, Setting(client.Settings.MaxIdle, below)
}

// Outcome is the result as an outcome says it.
func (r Result) Outcome() probes.ClientResult {
	switch r {
	case Noticed:
		return probes.ClientNotices
	case Retried:
		return probes.ClientRetries
	case Failed:
		return probes.ClientFails
	case Unknown:
		return ""
	}
	return ""
}
