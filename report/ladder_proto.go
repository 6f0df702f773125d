package report

import "perch.example/probes"

// heldOver adds to what was seen of a held connection what it spoke, where that
// is not HTTP/1.1: with `protocol: auto` the rungs of one ladder may differ. So
// may the addresses that they were with.
func heldOver(o *probes.Outcome, cell span) span {
	a := attempt(o, probes.ConnectionFresh)
	if o.Unused { // there was no exchange before
		a = attempt(o, probes.ConnectionReused)
	}
	if a != nil && (a.OK() || o.Unused) && a.Proto == "HTTP/2.0" {
		cell.text += ", HTTP/2"
	}
	if a != nil && a.Address.IsValid() {
		cell.text += ", " + a.Address.String()
	}
	return cell
}
