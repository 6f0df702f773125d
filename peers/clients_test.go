//go:build peers

package peers

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// columns are what the clients meet: the six ways in which a pooled connection
// fails them, then the rest of what the catalog speaks of.
func columns() []column {
	return []column{
		{scenario: "idle_fin", reason: probes.ReasonIdleFIN, closes: true},
		{scenario: "idle_rst", reason: probes.ReasonIdleRST, closes: true},
		{scenario: "eof", reason: probes.ReasonEOF},
		{scenario: "reset", reason: probes.ReasonReset},
		{scenario: "idle_bytes", reason: probes.ReasonIdleBytes, closes: true},
		{scenario: "partial_head", reason: probes.ReasonPartialHead},
		{scenario: "partial_body", reason: probes.ReasonPartialBody},
		{scenario: "bad_response", reason: probes.ReasonBadResponse, patience: 4 * time.Second},
		{scenario: "no_response", reason: probes.ReasonNoResponse, patience: short},
		{scenario: "unavailable", reason: probes.ReasonUnavailable},
		{scenario: "rate_limited", reason: probes.ReasonRateLimited},
		{scenario: "unauthorized", reason: probes.ReasonUnauthorized},
		{scenario: "dns", reason: probes.ReasonDNS, cold: true},
		{scenario: "refused", reason: probes.ReasonRefused, cold: true},
		{scenario: "connect_timeout", reason: probes.ReasonConnectTimeout, cold: true, patience: short},
		{scenario: "tls", reason: probes.ReasonTLS, cold: true},
		{scenario: "certificate_unknown", reason: probes.ReasonCertificate, cold: true},
	}
}

// h2Columns are what clients meet over HTTP/2.
func h2Columns() []column {
	return []column{
		{scenario: "h2_idle_goaway", reason: probes.ReasonIdleGoaway, h2: true, closes: true},
		{scenario: "h2_idle_fin", reason: probes.ReasonIdleFIN, h2: true, closes: true},
		{scenario: "h2_idle_rst", reason: probes.ReasonIdleRST, h2: true, closes: true},
		{scenario: "h2_goaway_unprocessed", reason: probes.ReasonGoawayUnprocessed, h2: true},
		{scenario: "h2_goaway_processed", reason: probes.ReasonGoawayProcessed, h2: true},
		{scenario: "h2_refused_stream", reason: probes.ReasonRefusedStream, h2: true},
		{scenario: "h2_stream_reset", reason: probes.ReasonStreamReset, h2: true},
		{scenario: "h2_eof", reason: probes.ReasonEOF, h2: true},
		{scenario: "h2_reset", reason: probes.ReasonReset, h2: true},
		{scenario: "h2_partial_body", reason: probes.ReasonPartialBody, h2: true},
	}
}

// speakH2 are the clients that speak HTTP/2, by themselves or by a setting.
func speakH2() []string {
	return []string{"okhttp", "jdk-httpclient", "httpx", "libcurl", "go-net-http"}
}

// races are the cells of HTTP/2 that come out one way or the other, by which of
// two threads is first. The catalog does not say.
func races() map[string]string {
	const shutdown = "its reader may not have told its pool: ConnectionShutdownException, 4 times of 32"
	const closed = "the close behind the GOAWAY may be seen first: IOException (closed) in place of the stream's own, in 1 run of some 10"
	return map[string]string{
		"okhttp h2_idle_goaway": shutdown,
		"okhttp h2_idle_fin":    shutdown,
		"okhttp " + variantRetriesOff + " h2_goaway_unprocessed": closed,
		"okhttp " + variantRetriesOff + " h2_goaway_processed":   closed,
		"jdk-httpclient h2_goaway_unprocessed":                   "the close behind the GOAWAY may be seen first: IOException, 4 times of 8",
	}
}

// matrix is every client and variant in every column, with both methods.
func matrix() []clientJob {
	variants := map[string][]string{
		"apache-httpclient-4.5": {variantRetriesOff, variantLooks, variantRestTemplate},
		"apache-httpclient-5.2": {variantRetriesOff, variantLooks},
		"okhttp":                {variantRetriesOff},
		"httpurlconnection":     {variantRetryPostOff},
		"urllib3":               {variantRetriesOff},
	}
	var jobs []clientJob
	for _, kind := range clients.Kinds() {
		if unplayed()[kind] != "" {
			continue
		}
		for _, variant := range append([]string{variantDefault}, variants[kind]...) {
			met := columns()
			if slices.Contains(speakH2(), kind) {
				met = append(met, h2Columns()...)
			}
			for _, c := range met {
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					if j := (clientJob{kind: kind, variant: variant, column: c, method: method}); j.makesSense() {
						jobs = append(jobs, j)
					}
				}
			}
		}
	}
	return jobs
}

// makesSense is false where a variant changes nothing, or cannot be measured.
func (j clientJob) makesSense() bool {
	if races()[j.kind+" "+j.column.scenario] != "" || races()[j.kind+" "+j.variant+" "+j.column.scenario] != "" {
		return false
	}
	switch j.variant {
	case variantLooks:
		return j.column.closes
	case variantRetryPostOff:
		return j.method == http.MethodPost
	case variantRestTemplate: // 4.3 reads the body elsewhere than the catalog's Spring 6, and wraps its end otherwise
		return j.column.scenario != "partial_body"
	default:
		return true
	}
}

// TestClientsDoWhatTheCatalogSays plays the whole matrix with real clients. Each
// cell of the catalog must be what was measured.
func TestClientsDoWhatTheCatalogSays(t *testing.T) {
	jobs := matrix()
	programs := newPrograms(t)
	met := playClients(t, programs, slices.Clone(jobs))
	var differ []clientJob
	for _, j := range jobs {
		m, ok := met[j.String()]
		if !ok {
			continue // it was said why
		}
		t.Logf("%s: measured: %s: %s", j, m.does(), m)
		if err := asCatalog(j, met); err != nil {
			differ = append(differ, j)
			t.Logf("%s differs, and is played again: %v", j, err)
		}
	}
	t.Logf("%d cells of %d clients, %d to be played again", len(jobs), len(clients.Kinds())-len(unplayed()), len(differ))
	playAgain(t, programs, differ, met)
}

// A cell that differs is played again so often, and must agree all but once: two
// threads of a client that race on a busy machine differ now and then, a client
// that does otherwise than the catalog says differs each time.
const replays = 4

// playAgain fails the test for each cell that differs for the second time.
func playAgain(t *testing.T, programs *clientPrograms, jobs []clientJob, first map[string]clientMet) {
	t.Helper()
	if len(jobs) == 0 {
		return
	}
	wrong := map[string][]error{}
	for range replays {
		met := maps.Clone(first)
		maps.Copy(met, playClients(t, programs, slices.Clone(jobs)))
		for _, j := range jobs {
			if err := asCatalog(j, met); err != nil {
				wrong[j.String()] = append(wrong[j.String()], err)
			}
		}
	}
	for _, j := range jobs {
		if errs := wrong[j.String()]; len(errs) > 1 {
			t.Errorf("%s: differs %d times more of %d: %v", j, len(errs), replays, errors.Join(errs...))
		}
	}
}

// asCatalog compares a cell that was played with the catalog; nil: they agree.
func asCatalog(j clientJob, met map[string]clientMet) error {
	want, source, err := catalogSays(j)
	if err != nil {
		return err
	}
	if err := differs(j, want, met[j.String()], met); err != nil {
		return err
	}
	if source != clients.Measured {
		return fmt.Errorf("it is measured here, and the catalog's source is %s", source)
	}
	return nil
}

// catalogSays is the fact about a cell. What Experience makes of it in words
// must name the same.
func catalogSays(j clientJob) (clients.Effect, clients.Source, error) {
	decl := j.declared()
	effect, source := clients.Cell(decl, j.column.reason, j.method, j.idle())
	if effect.Does == "" {
		return effect, source, fmt.Errorf("the catalog does not say")
	}
	words, result, _ := clients.Experience(decl, j.column.reason, j.method, j.idle())
	if result != resultOf(effect.Does) || !strings.Contains(words, effect.Error) {
		return effect, source, fmt.Errorf("the fact says %+v, Experience %s: %q", effect, result, words)
	}
	return effect, source, nil
}

// declared is how a config declares the client of a job.
func (j clientJob) declared() probes.Client {
	decl := probes.Client{Kind: j.kind, HTTP2: j.column.h2}
	switch j.variant {
	case variantRetriesOff, variantRetryPostOff:
		decl.AutomaticRetries = probes.SwitchNone
	case variantRestTemplate:
		decl.WrappedBy = "spring-resttemplate"
	}
	return decl
}

func resultOf(d clients.Does) clients.Result {
	switch d {
	case clients.Notices:
		return clients.Noticed
	case clients.Retries:
		return clients.Retried
	case clients.Fails, clients.Returns:
		return clients.Failed
	}
	return clients.Unknown
}

// differs compares a cell with what was measured; nil: they agree.
func differs(j clientJob, want clients.Effect, m clientMet, met map[string]clientMet) error {
	does, seen := m.does(), m.Error
	if j.variant == variantRestTemplate {
		if err := wraps(j, m); err != nil {
			return err
		}
		does, seen = m.insideWrapper()
	}
	// A kernel that was told of the reset takes no byte: the wire looks alike
	// whether the client had looked, or tried to write and tried again. With its
	// retries off the second one fails.
	bare := met[clientJob{kind: j.kind, variant: variantRetriesOff, column: j.column, method: j.method}.String()]
	if j.column.scenario == "idle_rst" && does == clients.Notices && j.variant != variantLooks && bare.Error != nil {
		does = clients.Retries
	}
	if does != want.Does {
		return fmt.Errorf("want (catalog) %s %s %s, got (measured) %s: %s", want.Does, want.Error, want.Text, does, m)
	}
	switch does {
	case clients.Fails:
		return sameError(j.kind, want, *seen)
	case clients.Returns:
		if j.variant != variantRestTemplate && !strings.Contains(want.Text, fmt.Sprint(m.Status)) {
			return fmt.Errorf("want (catalog) %s, got (measured) %s", want.Text, m)
		}
	case clients.Notices, clients.Retries:
	}
	return nil
}

// sameError compares an error by its name and by its text.
func sameError(kind string, want clients.Effect, seen clientThrown) error {
	// Languages with classes know just one that is exact.
	right := len(seen.Names) > 0 && seen.Names[0] == realName(want.Error)
	if kind == "go-net-http" || strings.HasPrefix(kind, "node-") {
		right = slices.Contains(seen.Names, want.Error)
	}
	if !right {
		return fmt.Errorf("want (catalog) %s, got (measured) %v: %s", want.Error, seen.Names, seen.Text)
	}
	if !sameText(want.Text, seen.Text) {
		return fmt.Errorf("%s: want the text (catalog) %q, got (measured) %q", want.Error, want.Text, seen.Text)
	}
	client, _ := clients.Lookup(kind)
	for _, also := range client.Errors[want.Error] {
		if !slices.Contains(seen.Names, realName(also)) {
			return fmt.Errorf("%s is (catalog) also %s, got (measured) %v", want.Error, also, seen.Names)
		}
	}
	return nil
}

// sameText reports whether an error says what the catalog has of it: a part of
// its text, with "<host>", "<status>" and "..." for what differs, or one of several parts.
func sameText(want, seen string) bool {
	if want == "" {
		return seen == "" || seen == "null"
	}
	for _, one := range strings.Split(want, ", or ") {
		pattern := strings.NewReplacer("<host>", ".+", "<status>", "[1-5][0-9]{2}", `\.\.\.`, ".*").Replace(regexp.QuoteMeta(one))
		if regexp.MustCompile("(?s)" + pattern).MatchString(seen) {
			return true
		}
	}
	return false
}

// realName is a Python class's own name: applications import it from where the
// catalog has it.
func realName(name string) string {
	switch name {
	case "asyncio.TimeoutError":
		return "TimeoutError"
	case "IOError":
		return "OSError"
	}
	if rest, ok := strings.CutPrefix(name, "aiohttp."); ok {
		return "aiohttp.client_exceptions." + rest
	}
	return name
}

// wraps holds what RestTemplate throws against the catalog. A class for one
// status came with Spring 5.1: the one that it extends is what 4.3 throws.
func wraps(j clientJob, m clientMet) error {
	rows := clients.Audit(j.declared(), []string{j.method}).Rows
	row := slices.IndexFunc(rows, func(r probes.AuditRow) bool { return r.Reason == j.column.reason })
	if row < 0 {
		return nil // no audit is about it
	}
	want, _, _ := strings.Cut(rows[row].Wrapped, "$")
	got := ""
	if m.Error != nil {
		got = m.Error.Names[0]
	}
	// Once the client has tried again in vain, an answer comes out all the same.
	if want != got && (want != "" || m.requests < 2) {
		return fmt.Errorf("around RestTemplate: want (catalog) %q, got (measured) %q: %s", want, got, m)
	}
	if m.Inside != nil && !slices.Contains(m.Error.Causes, m.Inside.Names[0]) {
		return fmt.Errorf("around RestTemplate: want the cause %s, got (measured) %v", m.Inside.Names[0], m.Error.Causes)
	}
	return nil
}
