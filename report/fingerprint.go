package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// Fingerprint writes a fingerprint for people. collect are the lines of a shell
// that take the application's and compare the two; none: not shown. The error
// is w's.
func Fingerprint(w io.Writer, f probes.Fingerprint, collect []string, s Style) error {
	p := &page{style: s}
	p.hang(nil, span{inkFaint, strings.Join(filled("perch "+f.Version, "path", f.Taken.UTC().Format(time.RFC3339)), " · ")})
	p.field("Place", plain(placeWords(f.Place)))
	p.network(f.Network, f.Place)
	for _, t := range f.Paths {
		p.gap()
		p.path(t)
	}
	p.gap()
	p.hang(nil, span{inkFaint, "No HTTP request was sent: connections were opened, shaken hands on under TLS, and closed."})
	p.shell("Take it in the application's pod, too, and compare; by an ephemeral container beside the application:", collect)
	return p.flush(w)
}

// shell writes lines to be pasted, whole.
func (p *page) shell(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.gap()
	p.hang(nil, span{inkStrong, title})
	for _, l := range lines {
		p.line(plain(margin + l))
	}
}

func placeWords(l probes.Place) string {
	var all []string
	for _, part := range []struct{ name, value string }{
		{"node", l.Node}, {"zone", l.Zone}, {"namespace", l.Namespace}, {"host", l.Host}, {"vantage", l.Vantage},
	} {
		if part.value != "" {
			all = append(all, part.name+" "+part.value)
		}
	}
	if l.DebugContainer {
		all = append(all, "a debug container")
	}
	if len(all) == 0 {
		return "unknown"
	}
	return strings.Join(all, ", ")
}

func (p *page) network(n probes.Network, at probes.Place) {
	if r := n.Resolver; r != nil {
		text := strings.Join(r.Servers, ", ")
		if len(r.Search) > 0 {
			text += "; search " + strings.Join(r.Search, " ")
		}
		p.field("Resolver", plain(text+"; "+strings.Join(append([]string{"ndots " + strconv.Itoa(r.Dots)}, r.Options...), ", ")))
	}
	for i, r := range n.Routes {
		text := string(r.Family) + " through " + r.Interface
		if r.Gateway.IsValid() {
			text += " by " + r.Gateway.String()
		}
		p.field(first(i, "Default route"), plain(text))
	}
	p.field("Proxy", plain(proxyWords(n.Proxy)))
	switch {
	case n.Sidecar != "":
		p.field("Mesh", plain("a sidecar, "+n.Sidecar))
	default:
		p.field("Mesh", plain("no port of a sidecar takes connections"))
	}
	if at.DebugContainer {
		p.field("", span{inkFaint, "A debug container has the pod's network, and not the application's environment or files."})
	}
}

func proxyWords(e *probes.ProxyEnv) string {
	if e == nil {
		return "unknown: the environment is not the application's"
	}
	var all []string
	for _, v := range []struct{ name, value string }{{"https_proxy", e.HTTPS}, {"http_proxy", e.HTTP}, {"all_proxy", e.All}} {
		if v.value != "" {
			all = append(all, v.name+" "+v.value)
		}
	}
	if len(all) == 0 {
		return "none in the environment"
	}
	if len(e.No) > 0 {
		all = append(all, "not for "+strings.Join(few(e.No), ", "))
	}
	return strings.Join(all, "; ")
}

// ways tells where probes connect by another way than the print did.
func (p *page) ways(t probes.PathPrint) {
	switch {
	case len(t.Ways) == 0 && t.Proxy != "":
		p.field("Proxy", span{inkWarn, "the environment names " + t.Proxy + " for it: probes go through it (see `proxy`), this print does not"})
	case t.Proxy != "":
		p.field("Proxy", plain("the environment names "+t.Proxy+" for it"))
	}
	if len(t.Ways) > 0 {
		p.field("Way", span{inkWarn, "probes connect otherwise than this print, which goes straight to the host: " + strings.Join(t.Ways, "; ")})
	}
}

// path is one target's.
func (p *page) path(t probes.PathPrint) {
	p.hang(nil, span{inkStrong, named(t)})
	if t.Via != "" {
		p.field("Declared", plain("via "+string(t.Via)))
	}
	p.ways(t)
	if len(t.Addresses) > 0 {
		text := addressList(t.Addresses)
		if t.Canonical != "" {
			text += "; its canonical name is " + t.Canonical
		}
		p.field("Addresses", plain(text))
	}
	if t.Problem != "" {
		p.field("Problem", span{inkBad, t.Problem})
	}
	for _, c := range t.Connections {
		p.connection(c)
	}
	if more := len(t.Addresses) - len(t.Connections); more > 0 && t.Problem == "" {
		p.field("", span{inkFaint, counted(more, "further address") + " not connected to"})
	}
}

func (p *page) connection(c probes.ConnectionPrint) {
	label := "To"
	switch {
	case c.Untried:
		p.field(label, span{inkFaint, c.Address.String() + ": not tried, there was no time for it within the target's budget"})
		return
	case !c.Reached():
		p.field(label, span{inkBad, c.Address.String() + ": " + c.Problem})
		return
	}
	from := c.Address.String() + " from " + sourceWords(c)
	if c.Interface != "" {
		from += " on " + c.Interface
	}
	p.field(label, plain(from))
	p.field("", plain(strings.Join(timesOf(c), ", ")))
	p.field("", plain(strings.Join(filled(endWords(c.TCPEnds), sized("segments of", c.MSS), sized("path MTU", c.MTU)), "; ")))
	if t := c.TLS; t != nil {
		p.field("", plain(strings.Join(filled("TLS "+t.Version, t.ALPN, "signed by "+t.Issuer), ", ")))
		text := fmt.Sprintf("certificate %s until %s, ", cut(t.SHA256, 17), t.NotAfter.UTC().Format("2006-01-02"))
		if t.TrustedBy == "" {
			p.field("", span{inkWarn, text + trustWords(*t)})
			return
		}
		p.field("", plain(text+trustWords(*t)))
	}
}

func timesOf(c probes.ConnectionPrint) []string {
	all := []string{fmt.Sprintf("TCP connects in %s at best (of %d, median %s)", latency(time.Duration(c.Connect.Least)), c.Connect.Times, latency(time.Duration(c.Connect.Median)))}
	if c.RTT > 0 {
		all = append(all, "smallest round trip by the kernel "+latency(time.Duration(c.RTT)))
	}
	if c.Hello > 0 {
		all = append(all, "TLS hello "+latency(time.Duration(c.Hello)))
	}
	if c.Handshake.Times > 0 {
		all = append(all, "handshake "+latency(time.Duration(c.Handshake.Least))+" at best")
	}
	return all
}

func endWords(e probes.TCPEnds) string {
	switch e {
	case probes.TCPEndsPeer:
		return "TCP ends at the peer"
	case probes.TCPEndsBeforePeer:
		return "TCP ends before the peer"
	default:
		return "where TCP ends is not known"
	}
}

func sized(what string, n int) string {
	if n == 0 {
		return ""
	}
	return what + " " + strconv.Itoa(n) + " bytes"
}
