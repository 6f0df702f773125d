package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"perch.example/probes"
)

// Clients writes the clients that a config can declare, with what they do when
// nothing else is declared. The error is w's.
func Clients(w io.Writer, known []probes.KnownClient, s Style) error {
	p := &page{style: s}
	p.hang(nil, span{inkStrong, "The clients that perch knows, by their name in a config: targets[].client.kind"})
	for _, c := range known {
		p.gap()
		p.hang([]span{{inkStrong, c.Kind}, plain("  ")}, span{inkFaint, c.Name})
		p.field("Versions", plain(versions(c)))
		p.field("Idle limit", plain(c.Idle))
		p.field("Looks first", plain(c.Looks))
		p.field("Own retries", plain(c.Retries))
		if len(c.Wrappers) > 0 {
			p.field("wrapped_by", plain(strings.Join(c.Wrappers, ", ")))
		}
	}
	return p.flush(w)
}

func versions(c probes.KnownClient) string {
	if c.Measured == "" {
		return c.Versions + "; from its documentation, not measured"
	}
	return c.Versions + "; measured with " + c.Measured
}

// ClientsJSON writes them as one JSON document, an array. The error is w's.
func ClientsJSON(w io.Writer, known []probes.KnownClient) error {
	type entry struct {
		Kind     string   `json:"kind"`
		Name     string   `json:"name"`
		Versions string   `json:"versions,omitempty"`
		Measured string   `json:"measured_with,omitempty"`
		Idle     string   `json:"idle_limit,omitempty"`
		Looks    string   `json:"looks_first,omitempty"`
		Retries  string   `json:"own_retries,omitempty"`
		Wrappers []string `json:"wrappers"`
	}
	out := []entry{}
	for _, c := range known {
		c.Wrappers = append([]string{}, c.Wrappers...)
		out = append(out, entry(c))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("encoding the clients: %w", err)
	}
	if _, err := w.Write(escaped(b.Bytes())); err != nil {
		return fmt.Errorf("writing the clients: %w", err)
	}
	return nil
}
