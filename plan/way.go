package plan

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// noteWays says what the environment does to the ways of the chosen probes, as far
// as the plan's environment is that of the run.
func (p *Plan) noteWays(desks []*desk, env func(string) (string, bool)) {
	for _, d := range desks {
		for _, j := range d.jobs {
			for _, note := range []string{wayNote(j.spec, env), addressNote(j.spec), protocolNote(j.spec)} {
				if note != "" && !slices.Contains(p.Notes, note) { // of most targets, all probes go one way
					p.Notes = append(p.Notes, note)
				}
			}
		}
	}
}

// eachOf is how many times a step does what it does, at most: with addresses: all
// once for each of the host's, but rungs, which take turns.
func eachOf(s *probes.Spec) int {
	if s.Way.Addresses != probes.AddressesAll || s.Kind == probes.KindIdle {
		return 1
	}
	return probes.MaxAddresses
}

// wayNote is what should be known of one probe's way; empty: nothing.
func wayNote(s *probes.Spec, env func(string) (string, bool)) string {
	if !s.Way.Proxy.Environment {
		return ""
	}
	f, err := s.Forward(env)
	switch {
	case err != nil:
		return s.Target + ": " + err.Error() + ": its probes would not run"
	case f == nil:
		return ""
	}
	note := fmt.Sprintf("%s: the environment's %s sends its connections through %s", s.Target, f.By, f)
	if s.Way.Addresses == probes.AddressesAll {
		note += ", which chooses the host's address: addresses: all has no effect"
	}
	if s.Client == nil {
		return note
	}
	return note + doesNotRead(s.Client.Kind, strings.EqualFold(f.By, "all_proxy"))
}

// addressNote says how often a step is sent whose addresses only the run knows.
func addressNote(s *probes.Spec) string {
	switch {
	case s.Way.Addresses != probes.AddressesAll:
		return ""
	case s.Kind == probes.KindIdle:
		return s.ID() + ": its rungs take turns at the host's addresses, one connection each"
	default:
		return fmt.Sprintf("%s: sent to each of the host's addresses, at most %d, one after the other where the budget has room", s.ID(), probes.MaxAddresses)
	}
}

// doesNotRead advises where the application's client would not take that proxy.
func doesNotRead(kind string, all bool) string {
	e, known := clients.ReadsEnvironment(kind)
	switch {
	case !known || e.Reads && (e.All || !all):
		return ""
	case e.Reads:
		return fmt.Sprintf(", and %s does not read ALL_PROXY: write proxy: none, unless the application is told by other means", kind)
	default:
		return fmt.Sprintf(", and %s does not read it by itself (%s): write proxy: none, unless the application is told to", kind, e.How)
	}
}
