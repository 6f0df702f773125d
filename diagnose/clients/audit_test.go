package clients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

// declarations are every client x wrapper x layer x automatic retries, without
// a list and with those that people write.
func declarations() []probes.Client {
	var all []probes.Client
	for _, kind := range Kinds() {
		for _, wrapper := range append(Wrappers(), "") {
			if wrapper != "" && !Wraps(wrapper, kind) {
				continue
			}
			for _, layer := range []probes.RetryLayer{probes.LayerInside, probes.LayerAround} {
				if wrapper == "" && layer == probes.LayerAround {
					continue // the same as inside
				}
				for _, own := range []probes.Switch{probes.SwitchDefault, probes.SwitchNone} {
					for _, errors := range [][]string{nil, {serverErr, resource, "5xx"}, {"java.io.IOException", "ECONNRESET"}} {
						all = append(all, probes.Client{
							Kind: kind, WrappedBy: wrapper, AutomaticRetries: own,
							Retry: &probes.RetryPolicy{Layer: layer, Attempts: 3, Errors: errors},
						})
					}
				}
			}
		}
	}
	return all
}

func describe(d probes.Client) string {
	return fmt.Sprintf("%s in %q, %s, automatic retries %q, %q", d.Kind, d.WrappedBy, d.Retry.Layer, d.AutomaticRetries, d.Retry.Errors)
}

// TestAddingWhatIsMissingCoversAll: with what the audit lists nothing is missed
// any more, with one entry less something is, and no entry is a parent of what
// it stands for.
func TestAddingWhatIsMissingCoversAll(t *testing.T) {
	missed := 0
	for _, decl := range declarations() {
		a := Audit(decl, AuditMethods())
		if a.Missed() != (len(a.Missing) > 0) {
			t.Errorf("%s: missed is %t, to add: %q", describe(decl), a.Missed(), a.Missing)
		}
		if a.Missed() {
			missed++
		}
		added := Audit(holding(decl, a.Missing...), AuditMethods())
		if added.Missed() {
			t.Errorf("%s: with %q added it still misses", describe(decl), a.Missing)
		}
		if !slices.Equal(added.Answers, a.Answers) || len(added.Doubts) > len(a.Doubts) {
			t.Errorf("%s: adding errors changed the answers to %q, the doubts to %q", describe(decl), added.Answers, added.Doubts)
		}
		whole := Audit(holding(decl, slices.Concat(a.Missing, a.Answers)...), AuditMethods())
		if len(whole.Missing)+len(whole.Answers) > 0 {
			t.Errorf("%s: with all added it would have to hold %q and %q", describe(decl), whole.Missing, whole.Answers)
		}
		for i, entry := range a.Missing {
			if len(countedMisses(holding(decl, slices.Concat(a.Missing[:i], a.Missing[i+1:])...))) == 0 {
				t.Errorf("%s: %s is not needed", describe(decl), entry)
			}
			if !slices.ContainsFunc(a.Rows, func(r probes.AuditRow) bool { return r.Counts && r.Entry == entry }) {
				t.Errorf("%s: %s is not what any reason comes out as", describe(decl), entry)
			}
		}
	}
	if missed == 0 {
		t.Error("no declaration misses anything")
	}
}

// TestOnlyErrorsOfIdempotentMethodsCount, and only where somebody could know.
func TestOnlyErrorsOfIdempotentMethodsCount(t *testing.T) {
	for _, decl := range declarations() {
		for _, r := range Audit(decl, AuditMethods()).Rows {
			if r.Counts && (r.Method != "GET" || r.Answer || !r.Transient || r.Result != probes.AuditMissed || r.Entry == "") {
				t.Errorf("%s: counts %+v", describe(decl), r)
			}
			if (r.By != "") != (r.Result == probes.AuditRetried || r.Result == probes.AuditUnsafe) {
				t.Errorf("%s: %s, sent again by %q", describe(decl), r.Result, r.By)
			}
			if r.Method == "GET" && r.Result == probes.AuditUnsafe {
				t.Errorf("%s: a GET is unsafe after %s", describe(decl), r.Reason)
			}
			if (r.Experiences == "") != (r.Result == probes.AuditUnknown) {
				t.Errorf("%s, %s: %s, and the client %q", describe(decl), r.Reason, r.Result, r.Experiences)
			}
		}
	}
}

// TestAuditReasonsAreAllThatAClientMeets: those of the catalog, those of the
// gaps, and three that the catalog is silent about.
func TestAuditReasonsAreAllThatAClientMeets(t *testing.T) {
	silent := []probes.Reason{probes.ReasonConnectFailed, probes.ReasonProxy, probes.ReasonPartialBody, probes.ReasonBadResponse}
	for _, r := range probes.Reasons() {
		want := slices.Contains(Events(), eventOf(r)) && r.Resend() != probes.ResendNo || slices.Contains(gapReasons(), r) || slices.Contains(silent, r)
		if got := slices.Contains(auditReasons(), r); got != want {
			t.Errorf("%s: audited %t, want %t", r, got, want)
		}
	}
}

// TestAuditOverHTTP2: its own reasons too, none that it cannot have, and what the
// catalog's HTTP/2 table says of them, not HTTP/1.1's.
func TestAuditOverHTTP2(t *testing.T) {
	never := []probes.Reason{probes.ReasonIdleBytes, probes.ReasonPartialHead}
	for _, r := range probes.Reasons() {
		want := (slices.Contains(auditReasons(), r) || slices.Contains(H2Events(), eventOf(r))) && !slices.Contains(never, r)
		if got := slices.Contains(auditReasonsH2(), r); got != want {
			t.Errorf("%s: audited %t, want %t", r, got, want)
		}
	}
	decl := probes.Client{Kind: "go-net-http", Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 2}}
	over1 := results(Audit(decl, AuditMethods()), "GET")
	decl.HTTP2 = true
	over2 := results(Audit(decl, AuditMethods()), "GET")
	for reason, want := range map[string][2]probes.AuditResult{
		"eof":                {probes.AuditRetried, probes.AuditMissed},
		"reset":              {probes.AuditRetried, probes.AuditMissed},
		"goaway_unprocessed": {"", probes.AuditRetried},
		"goaway_processed":   {"", probes.AuditMissed},
		"idle_goaway":        {"", probes.AuditNoticed},
	} {
		for i, all := range []map[probes.AuditResult]string{over1, over2} {
			var got probes.AuditResult
			for result, reasons := range all {
				if slices.Contains(strings.Fields(reasons), reason) {
					got = result
				}
			}
			if got != want[i] {
				t.Errorf("%s over HTTP/%d: %q, want %q", reason, i+1, got, want[i])
			}
		}
	}
	unknown := Audit(probes.Client{Kind: "okhttp", HTTP2: true, Retry: decl.Retry}, AuditMethods()).Unknown()
	if !slices.Contains(unknown, probes.ReasonIdleGoaway) {
		t.Errorf("of OkHttp idle_goaway is not known, got %s", unknown)
	}
}

// results are the reasons of a method by result, in their order.
func results(a probes.Audit, method string) map[probes.AuditResult]string {
	out := map[probes.AuditResult]string{}
	for _, r := range a.Rows {
		if r.Method == method {
			out[r.Result] = strings.TrimSpace(out[r.Result] + " " + string(r.Reason))
		}
	}
	return out
}

// TestTheIncident: what its policy misses, what to add, and why the other layer
// would do.
func TestTheIncident(t *testing.T) {
	a := Audit(spring("inside", serverErr, resource), AuditMethods())
	get := results(a, "GET")
	if want := "idle_fin idle_close_notify crossed_close eof idle_rst reset partial_head no_response blackhole dns refused connect_timeout connect_failed idle_bytes rate_limited unavailable proxy_upstream_reset"; get["missed"] != want {
		t.Errorf("missed: %s\n  want: %s", get["missed"], want)
	}
	if !a.Missed() || a.Name != "Apache HttpClient 4.5" || a.Wrapper != "RestTemplate" {
		t.Errorf("missed %t, %q around %q", a.Missed(), a.Wrapper, a.Name)
	}
	if len(a.Missing) < 2 || a.Missing[0] != noAnswer || a.Missing[1] != "java.net.SocketException" {
		t.Errorf("to add: %q", a.Missing)
	}
	if want := []string{"429", "502", "503", "504", "408"}; !slices.Equal(a.Answers, want) {
		t.Errorf("answers to add: %q, want %q", a.Answers, want)
	}
	says(t, "notes", a.Notes,
		"With `layer: around` the same list covers all", "RestTemplate wraps every I/O error in "+resource+", which the list holds", "never that class",
		"a POST would be sent again though it may have been executed", "automatic retries are off", "From 2 s of idleness on", "java.net.SocketException covers org.apache.http.conn.HttpHostConnectException")
	says(t, "doubts", a.Doubts,
		serverErr+" covers nothing with `layer: inside`: RestTemplate throws it around the layer; inside, an answer is no error: write its status",
		resource+" covers nothing with `layer: inside`: RestTemplate throws it around the layer, which sees the errors of Apache HttpClient 4.5 themselves")
	if want := []string{serverErr, resource}; !slices.Equal(a.Useless, want) {
		t.Errorf("useless: %q, want %q", a.Useless, want)
	}
	for _, r := range a.Rows {
		if r.Method == "GET" && r.Reason == probes.ReasonIdleFIN {
			want := probes.AuditRow{
				Reason: "idle_fin", Method: "GET", Transient: true, Result: "missed", Counts: true,
				Experiences: "throws " + noAnswer + ": <host> failed to respond", Wrapped: resource, Entry: noAnswer, NoticedFrom: 2e9,
			}
			if r != want {
				t.Errorf("idle_fin:\n got %+v\nwant %+v", r, want)
			}
		}
	}
}

// TestTheIncidentAround: the same list, around RestTemplate.
func TestTheIncidentAround(t *testing.T) {
	a := Audit(spring("around", serverErr, resource), AuditMethods())
	if a.Missed() || a.Missing != nil {
		t.Errorf("missed %t, to add %q", a.Missed(), a.Missing)
	}
	if want := []string{"org.springframework.web.client.HttpClientErrorException$TooManyRequests", "408"}; !slices.Equal(a.Answers, want) {
		t.Errorf("answers to add: %q, want %q", a.Answers, want)
	}
	says(t, "notes", a.Notes, "One entry covers all network failures because of `layer: around`: RestTemplate wraps every I/O error in "+resource, noAnswer)
	if a.Doubts != nil || a.Useless != nil {
		t.Errorf("doubts %q, useless %q", a.Doubts, a.Useless)
	}
	if post := results(a, "POST"); !strings.Contains(post["unsafe"], "eof") || !strings.Contains(post["retried"], "idle_fin") {
		t.Errorf("POST: %v", post)
	}
	for _, r := range a.Rows {
		if r.Method == "GET" && r.Reason == probes.ReasonIdleFIN && r.By != resource {
			t.Errorf("idle_fin is sent again by %q", r.By)
		}
	}
	names := Audit(spring("around", noAnswer), AuditMethods())
	says(t, "doubts", names.Doubts, noAnswer+" covers nothing with `layer: around`: around it the layer sees what RestTemplate makes of the errors of Apache HttpClient 4.5")
	says(t, "notes", names.Notes, "Around it the layer never sees the client's own errors")
	if want := []string{resource}; !slices.Equal(names.Missing, want) {
		t.Errorf("to add: %q, want %q", names.Missing, want)
	}
}

func TestAuditNotes(t *testing.T) {
	plain := func(kind string, errors ...string) probes.Client {
		return probes.Client{Kind: kind, Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 3, Errors: errors}}
	}
	once := spring("inside", noAnswer)
	once.Retry.Attempts = 1
	undeclared := spring("inside")
	undeclared.Retry = nil
	bare := plain("apache-httpclient-4.5")
	bare.Retry.Layer = probes.LayerAround
	never := spring("inside")
	never.ValidateAfter = none()
	for name, tt := range map[string]struct {
		decl   probes.Client
		missed bool
		says   []string
	}{
		"one attempt":           {once, true, []string{"`attempts: 1` is the first try alone"}},
		"no policy":             {undeclared, false, []string{"No retry policy is declared", "nothing counts as missed"}},
		"around nothing":        {bare, true, []string{"`layer: around` means nothing without wrapped_by"}},
		"its own retries":       {plain("go-net-http"), true, []string{"The client by itself sends a GET again after crossed_close, eof and reset, so that no retry list sees it unless that fails, too."}},
		"with a switch":         {plain("apache-httpclient-4.5"), true, []string{"With its automatic retries off the list would also have to hold " + noAnswer + " and java.net.SocketException."}},
		"its own retries, held": {plain("go-net-http", "*url.Error"), false, []string{"The client by itself sends a GET again"}},
		"looks always":          {plain("go-net-http"), true, []string{"It looks at every connection before it uses it, and notices idle_fin, idle_close_notify, idle_rst and idle_bytes."}},
		"never looks":           {never, true, []string{"It does not look at a connection before a GET."}},
		"a cut head is a 200":   {plain("requests"), true, []string{"No retry list can cover partial_head (the client returns 200 with no error"}},
		"a certificate, too":    {spring("around", resource), false, []string{"After tls and certificate a GET is sent again, too, since the list holds " + resource + ": harmless and useless."}},
		"a stranger":            {plain("requests", "shop.StockError"), true, []string{"the catalog does not know them: shop.StockError."}},
	} {
		t.Run(name, func(t *testing.T) {
			a := Audit(tt.decl, AuditMethods())
			if a.Missed() != tt.missed {
				t.Errorf("missed %t, want %t", a.Missed(), tt.missed)
			}
			says(t, "notes", a.Notes, tt.says...)
		})
	}
}

// TestWithoutAPolicyAWholeListIsShown: for the layer where the application is.
func TestWithoutAPolicyAWholeListIsShown(t *testing.T) {
	decl := spring("inside")
	decl.Retry = nil
	a := Audit(decl, AuditMethods())
	if want := []string{resource}; !slices.Equal(a.Missing, want) {
		t.Errorf("to hold: %q, want %q", a.Missing, want)
	}
	decl.WrappedBy = ""
	if a := Audit(decl, AuditMethods()); !slices.Contains(a.Missing, noAnswer) {
		t.Errorf("to hold: %q, want %s among them", a.Missing, noAnswer)
	}
	if got := results(a, "GET"); got["missed"] != "" || !strings.Contains(got["unknown"], "idle_fin") {
		t.Errorf("GET: %v", got)
	}
	if a := Audit(probes.Client{Kind: "lynx"}, AuditMethods()); a.Name != "lynx" || a.Rows != nil || a.Missed() {
		t.Errorf("a client that nobody knows: %+v", a)
	}
}

// TestThreeStatusesAreOneReason: those that a list holds are not named again.
func TestThreeStatusesAreOneReason(t *testing.T) {
	around := func(errors ...string) probes.Client { return spring("around", append(errors, resource)...) }
	for name, tt := range map[string]struct {
		decl probes.Client
		want string
	}{
		"none":            {spring("inside"), "429 502 503 504 408"},
		"one":             {spring("inside", "504", "429"), "502 503 408"},
		"their class":     {spring("inside", "5xx"), "429 408"},
		"around":          {around(), "TooManyRequests BadGateway ServiceUnavailable GatewayTimeout 408"},
		"one of them":     {around("HttpServerErrorException.BadGateway"), "TooManyRequests ServiceUnavailable GatewayTimeout 408"},
		"statuses around": {around("429", "502"), "ServiceUnavailable GatewayTimeout 408"},
		"its own retries": {probes.Client{Kind: "apache-httpclient-5.2", Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2}}, "408"},
	} {
		var got []string
		for _, entry := range Audit(tt.decl, AuditMethods()).Answers {
			got = append(got, lastPart(entry))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestAnswersAreNamedExactly: no entry for an answer covers others: neither a
// 404 nor a 500 is repeated because a 503 is.
func TestAnswersAreNamedExactly(t *testing.T) {
	seen := 0
	for _, decl := range declarations() {
		w := lookupWrapper(decl.WrappedBy)
		for _, entry := range Audit(decl, AuditMethods()).Answers {
			seen++
			if w != nil && (entry == w.clientError || entry == w.serverError) || strings.HasSuffix(entry, "xx") {
				t.Errorf("%s: %s covers more than what is missed", describe(decl), entry)
			}
		}
	}
	if seen == 0 {
		t.Error("no declaration misses an answer")
	}
}

func TestIsStatus(t *testing.T) {
	for entry, want := range map[string]bool{"503": true, "5xx": true, "4XX": true, "5x": false, "EOF": false, "999": false, "50x": false, "5000": false, "": false} {
		if got := isStatus(entry); got != want {
			t.Errorf("%q: %t, want %t", entry, got, want)
		}
	}
}

func says(t *testing.T, what string, texts []string, parts ...string) {
	t.Helper()
	all := strings.Join(texts, "\n")
	for _, p := range parts {
		if !strings.Contains(all, p) {
			t.Errorf("%s do not say %q:\n%s", what, p, all)
		}
	}
}

// TestOneStatusIsNotEveryOne: 502 and 504 are the same reason as 503, and an
// entry for 503 does not cover them.
func TestOneStatusIsNotEveryOne(t *testing.T) {
	requests := func(errors ...string) probes.Client {
		return probes.Client{Kind: "requests", Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2, Errors: errors}}
	}
	for _, tt := range []struct {
		name string
		decl probes.Client
		want string
	}{
		{"one", requests("503"), "503 covers the status 503 alone: 502 and 504, which perch calls unavailable as well, would not be asked for again."},
		{"two", requests("503", "502"), "503 covers the status 503 alone: 504, which"},
		{"each", requests("503", "502", "504"), ""},
		{"their class", requests("5xx"), ""},
		{"both", requests("5xx", "503"), ""},
		{"both, the other way round", requests("503", "5xx"), ""},
		{"one try", probes.Client{Kind: "requests", Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 1, Errors: []string{"503"}}}, ""},
		{"its class and all", spring("around", serverErr+"$ServiceUnavailable", "Exception"), ""},
		{"none", requests(), ""},
		{"a class of its own", spring("around", serverErr+"$ServiceUnavailable"), serverErr + "$ServiceUnavailable covers the status 503 alone: 502 and 504, which perch calls unavailable as well, would not be asked for again. Their names here: " + serverErr + "$BadGateway and " + serverErr + "$GatewayTimeout."},
		{"the class of all", spring("around", serverErr), ""},
		{"the client does it", probes.Client{Kind: "apache-httpclient-5.2", Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2, Errors: []string{"503"}}}, ""},
	} {
		notes := strings.Join(Audit(tt.decl, AuditMethods()).Notes, "\n")
		if got := strings.Contains(notes, "covers the status 503 alone"); got != (tt.want != "") || !strings.Contains(notes, tt.want) {
			t.Errorf("%s: want %q in\n%s", tt.name, tt.want, notes)
		}
	}
}
