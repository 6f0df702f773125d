package report

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// ofPath is a fingerprint as perch's own pod has it, changed as asked.
func ofPath(changes ...func(*probes.Fingerprint)) probes.Fingerprint {
	ms := func(f float64) probes.Seconds { return probes.Seconds(f * float64(time.Millisecond)) }
	connection := func(last byte) probes.ConnectionPrint {
		return probes.ConnectionPrint{
			Address: netip.AddrFrom4([4]byte{203, 0, 113, last}), Source: netip.MustParseAddr("10.244.1.7"),
			Subnet: netip.MustParsePrefix("10.244.1.0/24"), Interface: "eth0",
			Connect: probes.Measured{Times: 3, Least: ms(12.1), Median: ms(12.9)}, RTT: ms(11.8), Hello: ms(13.2),
			Handshake: probes.Measured{Times: 3, Least: ms(26.4), Median: ms(27)}, TCPEnds: probes.TCPEndsPeer, MSS: 1448, MTU: 1500,
			TLS: &probes.TLSPrint{
				Version: "1.3", ALPN: "http/1.1", Issuer: "CN=R11,O=Public Trust,C=US", Authority: "Public Trust", Subject: "CN=api.partner.example",
				NamesSHA256: strings.Repeat("1a", 32), SHA256: strings.Repeat("2b", 32), NotAfter: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC),
				TrustedBy: "system", Certificates: 2,
			},
		}
	}
	f := probes.Fingerprint{
		Format: 1, Version: "0.1.0", Taken: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		Place: probes.Place{Node: "node-a", Zone: "tokyo-1a", Namespace: "shop", Host: "perch-28x", Vantage: "prod-tokyo"},
		Network: probes.Network{
			Resolver: &probes.Resolver{
				Servers: []string{"10.96.0.10"}, Search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local"}, Dots: 5, Options: []string{},
			},
			Proxy:  &probes.ProxyEnv{},
			Routes: []probes.Route{{Family: probes.IPv4, Interface: "eth0", Gateway: netip.MustParseAddr("10.244.1.1")}},
			Links:  []probes.Attached{{Name: "eth0", MTU: 1500, Prefixes: []netip.Prefix{netip.MustParsePrefix("10.244.1.7/24")}}},
		},
		Paths: []probes.PathPrint{{
			Target: "stock-api", Scheme: "https", Host: "api.partner.example", Port: "443", Canonical: "edge.cdn.example",
			Addresses:   []netip.Addr{netip.MustParseAddr("203.0.113.4"), netip.MustParseAddr("203.0.113.9")},
			Connections: []probes.ConnectionPrint{connection(9), connection(4)},
		}},
	}
	for _, change := range changes {
		change(&f)
	}
	return f
}

// ofApp is the application's: another pod on another node of the same path.
func ofApp(changes ...func(*probes.Fingerprint)) probes.Fingerprint {
	return ofPath(append([]func(*probes.Fingerprint){func(f *probes.Fingerprint) {
		f.Place = probes.Place{Namespace: "shop", Host: "shop-7c9-xv2", DebugContainer: true}
		f.Network.Proxy, f.Paths[0].Target = nil, ""
		f.Network.Links[0].Prefixes[0] = netip.MustParsePrefix("10.244.2.31/24")
		f.Network.Routes[0].Gateway = netip.MustParseAddr("10.244.2.1")
		each(f, func(c *probes.ConnectionPrint) {
			c.Source, c.Subnet = netip.MustParseAddr("10.244.2.31"), netip.MustParsePrefix("10.244.2.0/24")
			c.RTT, c.Hello = c.RTT*11/10, c.Hello*12/10
		})
	}}, changes...)...)
}

func each(f *probes.Fingerprint, change func(*probes.ConnectionPrint)) {
	for i := range f.Paths {
		for j := range f.Paths[i].Connections {
			c := &f.Paths[i].Connections[j]
			if c.TLS != nil {
				own := *c.TLS
				c.TLS = &own
			}
			change(c)
		}
	}
}

// intercepted goes through a proxy near by that opens TLS, from the host's own
// network.
func intercepted(f *probes.Fingerprint) {
	f.Place.Zone = "tokyo-1c"
	f.Network.Sidecar = "by Envoy's admin port: 127.0.0.1:15000 takes connections"
	each(f, func(c *probes.ConnectionPrint) {
		c.Source, c.Subnet, c.Interface = netip.MustParseAddr("192.168.3.4"), netip.MustParsePrefix("192.168.3.0/24"), "ens5"
		c.TCPEnds, c.RTT, c.MSS = probes.TCPEndsBeforePeer, probes.Seconds(200*time.Microsecond), 1398
		c.TLS.Issuer, c.TLS.Authority, c.TLS.SHA256 = "CN=corp-tls,O=Our Company", "Our Company", strings.Repeat("3c", 32)
		c.TLS.TrustedBy, c.TLS.NotTrusted = "", "x509: certificate signed by unknown authority"
	})
}

func ipOnly(f *probes.Fingerprint) {
	f.Network = probes.Network{}
	f.Place = probes.Place{}
	p := &f.Paths[0]
	p.Scheme, p.Port, p.Via, p.Proxy, p.Canonical = "http", "80", probes.ViaProxy, "http://proxy:3128", ""
	p.Connections = []probes.ConnectionPrint{
		{Address: p.Addresses[0], Problem: "connecting to 203.0.113.4:80: connect: connection refused"},
		{Address: p.Addresses[1], Untried: true},
	}
}

func collectLines() []string {
	return []string{
		"POD=...         # one of the application's: kubectl get pods -n shop",
		"kubectl debug -n shop \"$POD\" --profile=restricted --image=registry.example/perch:0.1.0 --container=perch-path-1 --quiet -- \\",
		"  /perch path --debug-container --output json --log-level error https://api.partner.example",
	}
}

func fingerprintPage(t *testing.T, f probes.Fingerprint, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := Fingerprint(&b, f, collectLines(), s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func comparedPage(t *testing.T, a, b probes.Fingerprint, s Style) (text, document string) {
	t.Helper()
	c, err := CompareFingerprints(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var page, doc bytes.Buffer
	x, y := Taken{"app.json", a}, Taken{"perch.json", b}
	if err := ComparedFingerprints(&page, x, y, c, s); err != nil {
		t.Fatal(err)
	}
	if err := ComparedFingerprintsJSON(&doc, x, y, c); err != nil {
		t.Fatal(err)
	}
	return page.String(), doc.String()
}

func TestFingerprintGolden(t *testing.T) {
	golden(t, "path.txt", []byte(fingerprintPage(t, ofPath(), Style{})))
	golden(t, "path_unreached.txt", []byte(fingerprintPage(t, ofPath(ipOnly), Style{})))
	golden(t, "path_intercepted.txt", []byte(fingerprintPage(t, ofApp(intercepted), Style{Width: 80})))
	var b bytes.Buffer
	if err := FingerprintJSON(&b, ofPath()); err != nil {
		t.Fatal(err)
	}
	golden(t, "path.json", b.Bytes())
}

func TestComparisonGolden(t *testing.T) {
	same, doc := comparedPage(t, ofApp(), ofPath(), Style{})
	golden(t, "path_same.txt", []byte(same))
	golden(t, "path_same.json", []byte(doc))
	other, doc := comparedPage(t, ofApp(), ofPath(intercepted), Style{Width: 80})
	golden(t, "path_differs.txt", []byte(other))
	golden(t, "path_differs.json", []byte(doc))
}

// TestFingerprintFitsTheTerminal: no line is longer than asked for, but for what
// is to be copied; without colour there is no escape code.
func TestFingerprintFitsTheTerminal(t *testing.T) {
	hostile := func(f *probes.Fingerprint) {
		each(f, func(c *probes.ConnectionPrint) { c.TLS.Issuer = "CN=\x1b[2Jbad\u202e name" })
	}
	for _, columns := range []int{60, 100} {
		pages := fingerprintPage(t, ofPath(hostile), Style{Width: columns})
		page, _ := comparedPage(t, ofApp(intercepted), ofPath(hostile), Style{Width: columns})
		pages += page
		for line := range strings.Lines(pages) {
			line = strings.TrimRight(line, "\n")
			pasted := slices.Contains(collectLines(), strings.TrimPrefix(line, margin))
			if width(line) > columns && !pasted {
				t.Errorf("at %d columns: %d in %q", columns, width(line), line)
			}
			if strings.ContainsAny(line, "\x1b\u202e") {
				t.Errorf("a control character in %q", line)
			}
		}
	}
	if !strings.Contains(fingerprintPage(t, ofPath(ipOnly), Style{Color: true}), "\x1b[") {
		t.Error("no colour where it is wanted")
	}
}

// TestFingerprintIsReadAsWritten: nothing is lost on the way through a file.
func TestFingerprintIsReadAsWritten(t *testing.T) {
	for name, f := range map[string]probes.Fingerprint{"perch's": ofPath(), "the application's": ofApp(), "intercepted": ofPath(intercepted), "unreached": ofPath(ipOnly)} {
		var b bytes.Buffer
		if err := FingerprintJSON(&b, f); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFingerprint(b.Bytes())
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", name, err, got, f)
		}
		if bytes.Contains(b.Bytes(), []byte("null")) {
			t.Errorf("%s: a null in\n%s", name, b.String())
		}
	}
}

func TestReadFingerprintSaysWhatIsWrong(t *testing.T) {
	whole := func(change func(map[string]any)) string {
		var b bytes.Buffer
		if err := FingerprintJSON(&b, ofPath()); err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for want, text := range map[string]string{
		"it is empty": " \n",
		"no fingerprint, but an error: perch: reading perch.yaml":   "perch: reading perch.yaml\nmore",
		"no fingerprint, but an error: Error from server (BadReque": "Error from server (BadRequest): container is waiting",
		"line 2: ":                                      "{\n\"a\": s3cret}",
		`the key "fingerprint" is missing`:              `{"version": "0.1.0", "outcomes": []}`,
		"no fingerprint: json: cannot":                  `[1]`,
		"a fingerprint of form 2, written by perch 9.9": whole(func(m map[string]any) { m["fingerprint"], m["version"] = 2, "9.9" }),
		`unknown field "new"`:                           whole(func(m map[string]any) { m["place"].(map[string]any)["new"] = 1 }),
		"of no path at all":                             whole(func(m map[string]any) { m["paths"] = []any{} }),
		"paths[0]: want scheme, host and port":          whole(func(m map[string]any) { m["paths"] = []any{map[string]any{"host": "a"}} }),
		"-1 seconds: want 0 to 86400": whole(func(m map[string]any) {
			m["paths"].([]any)[0].(map[string]any)["connections"].([]any)[0].(map[string]any)["tcp_rtt_seconds"] = -1
		}),
	} {
		if _, err := ReadFingerprint([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.60s: %v, want %q in it", text, err, want)
		}
	}
	trailing := whole(func(map[string]any) {}) + "\nperch: more"
	if _, err := ReadFingerprint([]byte(trailing)); err == nil {
		t.Error("what follows the document is not refused")
	}
}

// TestFingerprintKeysAreExplained: docs/json.md names each key, and each part.
func TestFingerprintKeysAreExplained(t *testing.T) {
	text, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## A path's fingerprint")
	if !found {
		t.Fatal("docs/json.md has no such section")
	}
	keys := jsonKeys(reflect.TypeFor[probes.Fingerprint]())
	for k := range jsonKeys(reflect.TypeFor[comparisonJSON]()) {
		keys[k] = true
	}
	for _, all := range []map[Part]partWords{placeParts(), networkParts(), pathParts(), tlsParts()} {
		for p := range all {
			keys[string(p)] = true
		}
	}
	for _, a := range []Agreement{Same, Different, Noted, Unknown} {
		keys[string(a)] = true
	}
	if len(keys) < 70 {
		t.Fatalf("only %d keys found: the walk misses some", len(keys))
	}
	for key := range keys {
		if key != "" && !strings.Contains(section, "`"+key+"`") {
			t.Errorf("docs/json.md does not explain `%s`", key)
		}
	}
}

func FuzzReadFingerprint(f *testing.F) {
	for _, p := range []probes.Fingerprint{ofPath(), ofApp(), ofPath(intercepted), ofPath(ipOnly)} {
		var b bytes.Buffer
		if err := FingerprintJSON(&b, p); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	own := ofPath()
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadFingerprint(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := FingerprintJSON(&again, p); err != nil {
			t.Fatalf("it can be read and not be written: %v", err)
		}
		fingerprintPage(t, p, Style{})
		if c, err := CompareFingerprints(p, p); err != nil || c.Differs() && slices.ContainsFunc(p.Paths, func(q probes.PathPrint) bool { return len(stood(q)) > 0 }) && len(p.Paths) == 1 {
			t.Errorf("it differs from itself: %v %+v", err, c.all(Different))
		}
		if _, err := CompareFingerprints(own, p); err == nil {
			comparedPage(t, own, p, Style{Width: 60})
		}
	})
}
