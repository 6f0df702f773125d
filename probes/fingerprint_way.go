package probes

import "slices"

// waysOf says by which ways a target's probes connect, sorted, each once; nil: as the
// print does, but for a proxy that the environment names. named: it names one.
func waysOf(t Target, named bool) []string {
	var all []string
	configured := false
	for _, s := range t.Probes {
		way, own := wayWords(s, named)
		configured = configured || own
		all = append(all, way)
	}
	if !configured {
		return nil
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// wayWords is one probe's way for people, and whether the config names it.
func wayWords(s Spec, named bool) (words string, configured bool) {
	way := s.Way
	words = "straight to the host"
	switch forward, err := s.Forward(nil); {
	case way.Socket != "":
		return "unix socket " + way.Socket, true
	case err == nil && forward != nil:
		words, configured = "proxy "+forward.String(), true
	case named && way.Proxy.Environment:
		words = "the environment's proxy"
	case named:
		words, configured = "straight to the host, whatever the environment names (proxy: none)", true
	}
	if way.Source.IsValid() {
		words, configured = words+", from "+way.Source.String(), true
	}
	if way.Family == IPv4Only || way.Family == IPv6Only {
		words, configured = words+", "+string(way.Family)+" alone", true
	}
	return words, configured
}
