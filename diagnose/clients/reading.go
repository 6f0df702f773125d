package clients

import (
	"fmt"
	"slices"
	"time"

	"perch.example/probes"
)

// reading turns documents into what the package works with, and gathers what
// is wrong with them.
type reading struct {
	shared   sharedDoc
	problems []error
}

func (r *reading) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}

func (r *reading) client(d clientDoc) Client {
	c := Client{
		Kind: d.Kind, Name: d.Name, Language: d.Language, Verb: d.Verb,
		Versions: d.Versions, Measured: d.Measured,
		Idle: IdleLimit{
			Limit: r.limit(d.Kind+": idle", d.Idle.Limit), Hint: d.Idle.Hint, Sweeps: d.Idle.Sweeps, Source: r.source(d.Kind+": idle", d.Idle.Source),
		},
		Looks: Validation{
			Limit: r.limit(d.Kind+": looks", d.Looks.From), Fixed: d.Looks.Fixed, How: d.Looks.How, Source: r.source(d.Kind+": looks", d.Looks.Source),
		},
		Pool: r.pool(d),
		Retries: Retrying{
			Does: d.Retries.Does, Methods: d.Retries.Methods, Off: d.Retries.Off,
			Times: d.Retries.Times, Renews: d.Retries.Renews, Source: r.source(d.Kind+": retries", d.Retries.Source),
		},
		Facts:    map[Event]Fact{},
		HTTP2:    map[Event]Fact{},
		Errors:   r.errors(d.Kind, d.Hierarchies, d.Errors),
		Aliases:  d.Aliases,
		Settings: Settings(d.Settings),
	}
	if d.Idle.Margin != "" {
		c.Idle.Margin = r.limit(d.Kind+": idle.margin", d.Idle.Margin).After
	}
	if d.Kind == "" || d.Name == "" || d.Language == "" || d.Verb == "" || d.Looks.How == "" || d.Retries.Does == "" {
		r.wrong("client %q: want kind, name, language, verb, looks.how and retries.does", d.Kind)
	}
	for event, fact := range r.shared.Everywhere {
		if d.Measured == "" {
			fact.Source = Documented
		}
		c.Facts[event] = r.fact(d, event, fact)
	}
	for event, fact := range d.Facts {
		c.Facts[event] = r.fact(d, event, fact)
	}
	for event := range d.Facts {
		if !slices.Contains(Events(), event) {
			r.wrong("%s, %s: no such event; want one of %q", d.Kind, event, Events())
		}
	}
	for event, fact := range d.HTTP2 {
		if !slices.Contains(H2Events(), event) {
			r.wrong("%s, http2, %s: no such event; want one of %q", d.Kind, event, H2Events())
		}
		c.HTTP2[event] = r.fact(d, event, fact)
	}
	return c
}

// fact turns the names of outcomes into what they stand for.
func (r *reading) fact(d clientDoc, event Event, f factDoc) Fact {
	at := fmt.Sprintf("%s, %s", d.Kind, event)
	if (f.All == "") == (f.Get == "" || f.Post == "") || f.All != "" && f.Get+f.Post != "" {
		r.wrong("%s: want all, or get and post", at)
	}
	fact := Fact{Safe: r.effect(d, at, f.All+f.Get), Other: r.effect(d, at, f.All+f.Post), Source: r.source(at, f.Source)}
	if f.Off != "" {
		off := r.effect(d, at, f.Off)
		fact.Bare = &off
	}
	if f.OffPost != "" {
		off := r.effect(d, at, f.OffPost)
		fact.BareOther = &off
	}
	if f.Looked != "" {
		looked := r.effect(d, at, f.Looked)
		fact.Looked = &looked
	}
	return fact
}

func (r *reading) effect(d clientDoc, at, name string) Effect {
	if does := Does(name); does == Notices || does == Retries {
		return Effect{Does: does}
	}
	o, ok := d.Outcomes[name]
	if !ok {
		o, ok = r.shared.Outcomes[name]
	}
	switch {
	case !ok:
		r.wrong("%s: want notices, retries or one of the outcomes, got %q", at, name)
		return Effect{}
	case o.Returns != "" && o.Error == "" && o.Text == "":
		return Effect{Does: Returns, Text: o.Returns, Note: o.Note}
	case o.Returns != "" || o.Error == "":
		r.wrong("%s: outcome %s wants an error (and its text), or what it returns", at, name)
	}
	return Effect{Does: Fails, Error: o.Error, Text: o.Text, Note: o.Note}
}

func (r *reading) wrapper(d wrapperDoc, kinds []string) wrapper {
	if d.Kind == "" || d.Name == "" || d.Network == "" || d.Body == "" || d.ClientError == "" || d.ServerError == "" {
		r.wrong("wrapper %q: want kind, name, network, body, 4xx and 5xx", d.Kind)
	}
	for _, kind := range d.Around {
		if !slices.Contains(kinds, kind) {
			r.wrong("wrapper %s: around %s, which is no client of the catalog", d.Kind, kind)
		}
	}
	r.source(d.Kind, d.Source)
	return wrapper{
		kind: d.Kind, name: d.Name, network: d.Network, body: d.Body, clients: d.Around,
		statuses: d.Statuses, clientError: d.ClientError, serverError: d.ServerError,
		hierarchy: r.errors(d.Kind, d.Hierarchies, nil),
	}
}

// errors joins shared hierarchies with a client's own.
func (r *reading) errors(at string, shared []string, own map[string][]string) map[string][]string {
	all := map[string][]string{}
	for _, name := range shared {
		if _, ok := r.shared.Hierarchies[name]; !ok {
			r.wrong("%s: no hierarchy is called %q", at, name)
		}
		for child, parents := range r.shared.Hierarchies[name] {
			all[child] = parents
		}
	}
	for child, parents := range own {
		all[child] = parents
	}
	return all
}

func (r *reading) pool(d clientDoc) Pooling {
	if !slices.Contains(probes.PoolOrders(), d.Pool.Order) {
		r.wrong("%s: pool: want order %q, got %q", d.Kind, probes.PoolOrders(), d.Pool.Order)
	}
	return Pooling{Order: d.Pool.Order, How: d.Pool.How, Source: r.source(d.Kind+": pool", d.Pool.Source)}
}

func (r *reading) source(at string, s Source) Source {
	if s != Measured && s != Documented {
		r.wrong("%s: want source %s or %s, got %q", at, Measured, Documented, s)
	}
	return s
}

// limit reads none, never, always or a duration.
func (r *reading) limit(at, text string) probes.Limit {
	switch text {
	case "none", "never":
		return none()
	case "always":
		return always()
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.wrong("%s: want none, never, always or a duration such as 2s, got %q", at, text)
	}
	return after(d)
}
