package clients

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write docs/clients.md anew")
	flag.Parse()
	os.Exit(m.Run())
}

// TestDocument keeps docs/clients.md in step with the catalog. With -update it
// writes the file.
func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "clients.md")
	want := document()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/clients.md is not what the catalog says; write it anew: go test ./diagnose/clients -run TestDocument -update")
	}
}

// exampleTimeout is the idle timeout for which the document writes settings.
const exampleTimeout = 60 * time.Second

// document is docs/clients.md.
func document() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, documentHead, seconds(Path{Timeout: exampleTimeout}.Safe()), seconds(exampleTimeout))
	overview(&b)
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		clientPage(&b, c)
	}
	wrapperPage(&b)
	return b.Bytes()
}

const documentHead = `# What HTTP clients do

<!-- Made from diagnose/clients/catalog.yaml by go test ./diagnose/clients -run TestDocument -update; change that file instead. -->

What each client does when a pooled connection has ended, when an answer is cut off, and when none can be had; which error
the application gets; and how its settings are written. Look yours up here before you write a retry list, and declare it as
` + "`client.kind`" + ` in perch's config: then perch says the same about what it measured, and ` + "`perch audit`" + ` about your retry list.

**How to read it.**
- *notices*: the client saw that the connection had ended and opened a new one before it sent anything. Nothing to do.
- *retries*: it wrote to the dead connection, then silently sent the request again on a new one. The application is served;
  where that is a POST, it may have been executed twice.
- An error: that is what the application, or its retry layer, gets. Shown by its last part; the whole name is in the tree below.
- *returns*: the application gets something that looks like an answer.
- *Automatic retries off* is ` + "`client.automatic_retries: none`" + ` in perch's config: the client's own second try is turned off.
  Where the cell is empty that changes nothing. In Java it is common: a retry layer of the application's stands above.
- GET stands for GET, HEAD, OPTIONS and TRACE, and for what else the client itself sends again; POST for the rest.
- **M** is measured for perch against the real client, and measured again by its test suite; **D** is from the vendor's
  documentation or source. What is neither is left out, and said to be unknown.
- A client's second table is for HTTP/2, where it was measured. What comes before a connection, and what a status says, is in the
  first one, whichever protocol is spoken.
- *Of several idle ones* is which connection its pool hands out: *lifo*, the one that was used last, so that the others age; *fifo*,
  the one that has been idle for longest, so that none does while there are calls; *oldest*, the one that was opened first.
- Events are named as a client can tell them. *Closed while idle* was there to be seen before the request; *closes on the
  request* was not: the close crossed it, or the server read the request first. No client can tell these two apart.
- Settings are written for a limit of %s s, which is safe on a path that ends idle connections after %s s. ` + "`perch idle URL`" + `
  measures yours. ` + "`builder`" + ` and ` + "`manager`" + ` are your own: with a new connection manager the pool's limits would be its defaults.

## All of them

`

// overview is one line for each client.
func overview(b *bytes.Buffer) {
	b.WriteString("| client | drops idle connections after | looks before use | of several idle ones | closed while idle, GET / POST | closes on the request, GET / POST | no answer |\n|---|---|---|---|---|---|---|\n")
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		fmt.Fprintf(b, "| [%s](#%s) | %s | %s | %s | %s | %s | %s |\n", c.Name, anchor(c.Name), c.idleWords(), looksShort(c.Looks), c.Pool.Order,
			pair(c.Facts[ClosedIdle]), pair(c.Facts[ClosesOnRequest]), pair(c.Facts[Silence]))
	}
	h2Overview(b)
	b.WriteString("\nBehind a layer such as RestTemplate the application gets that layer's errors: see [Layers](#layers-that-wrap-errors).\n")
}

// h2Overview is one line for each client that was measured over HTTP/2.
func h2Overview(b *bytes.Buffer) {
	events := []Event{GoawayIdle, ClosedIdle, GoawayUnprocessed, GoawayProcessed, StreamRefused, StreamReset}
	b.WriteString("\nOver HTTP/2, GET / POST:\n\n| client |")
	for _, e := range events {
		fmt.Fprintf(b, " %s |", e)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(events)) + "\n")
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		if len(c.HTTP2) == 0 {
			continue
		}
		fmt.Fprintf(b, "| [%s](#%s) |", c.Name, anchor(c.Name))
		for _, e := range events {
			cell := "unknown"
			if f, ok := c.HTTP2[e]; ok {
				cell = pair(f)
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		b.WriteString("\n")
	}
}

func looksShort(v Validation) string {
	switch v.Limit.Mode {
	case probes.LimitAfter:
		return "from " + seconds(v.Limit.After) + " s idle"
	case probes.LimitNone:
		return v.How
	case probes.LimitDefault, probes.LimitAlways:
	}
	return string(v.Limit.Mode)
}

func pair(f Fact) string {
	if f.Safe == f.Other {
		return short(f.Safe)
	}
	return short(f.Safe) + " / " + short(f.Other)
}

// short is a cell of a table: an error by its last part.
func short(e Effect) string {
	switch e.Does {
	case Fails:
		return "`" + lastPart(e.Error) + "`"
	case Returns:
		return "*returns* " + e.Text
	case Notices, Retries:
	}
	return "*" + string(e.Does) + "*"
}

// long is short with the error's text.
func long(e Effect) string {
	text := short(e)
	if e.Does == Fails && e.Text != "" {
		text += ": " + escape(e.Text)
	}
	if e.Note != "" {
		text += " (" + escape(e.Note) + ")"
	}
	return text
}

func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<host>", "`<host>`", "<status>", "`<status>`").Replace(s)
}

func anchor(heading string) string {
	var a strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ' || r == '-':
			a.WriteRune('-')
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			a.WriteRune(r)
		}
	}
	return a.String()
}

func clientPage(b *bytes.Buffer, c Client) {
	fmt.Fprintf(b, "\n## %s\n\n`client.kind: %s`, %s. Documented facts: %s. ", c.Name, c.Kind, c.Language, c.Versions)
	if c.Measured != "" {
		fmt.Fprintf(b, "Measured: %s.\n\n", c.Measured)
	} else {
		b.WriteString("Not measured.\n\n")
	}
	fmt.Fprintf(b, "- Drops idle connections after: %s (%s).\n", c.idleWords(), c.Idle.Source)
	fixed := ""
	if c.Looks.Fixed {
		fixed = ". No setting changes that"
	}
	fmt.Fprintf(b, "- Looks before use: %s (%s)%s.\n", c.looksWords(), c.Looks.Source, fixed)
	fmt.Fprintf(b, "- Of several idle connections it uses: %s (%s).\n", c.poolWords(), c.Pool.Source)
	fmt.Fprintf(b, "- Second try of its own: %s (%s).", c.Retries.Does, c.Retries.Source)
	if len(c.Retries.Methods) > 0 {
		fmt.Fprintf(b, " Methods that it sends again: %s.", strings.Join(c.Retries.Methods, ", "))
	}
	if c.Retries.Off != "" {
		fmt.Fprintf(b, " Off with `%s`.", c.Retries.Off)
	}
	b.WriteString("\n\n")
	facts(b, c.Facts, Events())
	if len(c.HTTP2) > 0 {
		b.WriteString("\nOver HTTP/2:\n\n")
		facts(b, c.HTTP2, H2Events())
	}
	b.WriteString("\nIts errors, each below what it also is:\n\n```\n")
	tree(b, used(c))
	b.WriteString("```\n")
	settings(b, c)
}

// facts is a table of a client, and what it does not say.
func facts(b *bytes.Buffer, known map[Event]Fact, events []Event) {
	b.WriteString("| what happens | GET | POST | automatic retries off | source |\n|---|---|---|---|---|\n")
	var unknown []string
	for _, event := range events {
		f, ok := known[event]
		if !ok {
			unknown = append(unknown, string(event))
			continue
		}
		safe, other, off := long(f.Safe), long(f.Other), ""
		if f.Safe == f.Other {
			other = "same"
		}
		if f.Bare != nil {
			off = long(*f.Bare)
		}
		if f.BareOther != nil {
			off += "; POST " + long(*f.BareOther)
		}
		name := string(event)
		if f.Looked != nil {
			name += "; " + string(f.Looked.Does) + " where it looks first"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", name, safe, other, off, f.Source)
	}
	if len(unknown) > 0 {
		fmt.Fprintf(b, "\nUnknown: %s.\n", strings.Join(unknown, ", "))
	}
}

// used are the errors that come out of the client, and what is above them:
// shared hierarchies hold more.
func used(c Client) map[string][]string {
	seen := map[string][]string{}
	for _, f := range slices.Concat(slices.Collect(maps.Values(c.Facts)), slices.Collect(maps.Values(c.HTTP2))) {
		for _, e := range effects(f) {
			if e.Does != Fails {
				continue
			}
			for _, name := range kindsOf(c.Errors, e.Error) {
				seen[name] = c.Errors[name]
			}
		}
	}
	return seen
}

// tree draws names below what they also are; one with several of them stands
// below the first, and names the others.
func tree(b *bytes.Buffer, errors map[string][]string) {
	below := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		above := ""
		if len(errors[name]) > 0 {
			above = errors[name][0]
		}
		below[above] = append(below[above], name)
	}
	var draw func(above, indent string)
	draw = func(above, indent string) {
		for _, name := range below[above] {
			also := ""
			if len(errors[name]) > 1 {
				also = "   (also " + strings.Join(errors[name][1:], ", ") + ")"
			}
			fmt.Fprintf(b, "%s%s%s\n", indent, name, also)
			draw(name, indent+"  ")
		}
	}
	draw("", "")
}

func settings(b *bytes.Buffer, c Client) {
	s, safe := c.Settings, Path{Timeout: exampleTimeout}.Safe()
	limit := c.Idle.Settable(safe)
	b.WriteString("\n| setting | in its own syntax |\n|---|---|\n")
	for _, row := range []struct {
		name, template string
		value          time.Duration
	}{
		{"idle limit", s.MaxIdle, limit}, {"look before use from", s.Validate, 2 * time.Second},
		{"TCP keep-alive", s.TCPKeepAlive, safe}, {"response timeout", s.Timeout, 5 * time.Second}, {"retry, idempotent methods", s.Retry, safe},
	} {
		code := cmp.Or(Setting(row.template, row.value), "none")
		if code != "none" {
			code = "`" + strings.ReplaceAll(code, "|", `\|`) + "`"
		}
		fmt.Fprintf(b, "| %s | %s |\n", row.name, code)
	}
	for _, wrapper := range Wrappers() {
		if bean := s.SpringBoot[wrapper]; bean != "" {
			fmt.Fprintf(b, "\nIn Spring Boot, below %s:\n\n```java\n%s```\n", WrapperName(wrapper), Setting(bean, limit))
		}
	}
	if len(s.Caveats) > 0 {
		b.WriteString("\n")
	}
	for _, caveat := range s.Caveats {
		fmt.Fprintf(b, "- %s\n", caveat)
	}
}

// wrapperPage is about the layers around clients.
func wrapperPage(b *bytes.Buffer) {
	b.WriteString(`
## Layers that wrap errors

` + "`client.wrapped_by`" + `. A retry layer *inside* sees the client's own errors; one *around* sees what the layer makes of them. What
an answer becomes holds for the layer's default error handler. All from their documentation and source (D).
`)
	for _, w := range catalog().wrappers() {
		fmt.Fprintf(b, "\n### %s\n\n`client.wrapped_by: %s`, around %s.\n\n| what the client gives | what the application gets |\n|---|---|\n", w.name, w.kind, "`"+strings.Join(w.clients, "`, `")+"`")
		fmt.Fprintf(b, "| a network error | `%s` |\n| one inside the body | `%s` |\n", w.network, w.body)
		for _, status := range slices.Sorted(maps.Keys(w.statuses)) {
			fmt.Fprintf(b, "| %d | `%s` |\n", status, w.statuses[status])
		}
		fmt.Fprintf(b, "| another 4xx | `%s` |\n| another 5xx | `%s` |\n\n```\n", w.clientError, w.serverError)
		tree(b, thrown(w))
		b.WriteString("```\n")
	}
}

// thrown are the errors that come out of a layer, and what is above them.
func thrown(w wrapper) map[string][]string {
	seen := map[string][]string{}
	for _, name := range append(slices.Collect(maps.Values(w.statuses)), w.network, w.body, w.clientError, w.serverError) {
		for _, n := range kindsOf(w.errors(), name) {
			seen[n] = w.errors()[n]
		}
	}
	return seen
}
