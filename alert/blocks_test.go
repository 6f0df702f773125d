package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"perch.example/probes"
)

// texts returns every text of a message's blocks, and fails where one block
// breaks a rule of Slack's or of contract.md's.
func texts(t testing.TB, blocks []slack.Block) []string {
	t.Helper()
	if len(blocks) == 0 || len(blocks) > maxBlocks {
		t.Fatalf("%d blocks, want 1 to %d", len(blocks), maxBlocks)
	}
	if content, err := json.Marshal(blocks); err != nil || len(content) > maxJSON {
		t.Fatalf("the blocks weigh %d bytes (%v), want at most %d", len(content), err, maxJSON)
	}
	var all []string
	add := func(object *slack.TextBlockObject, limit int) {
		if n := len(utf16.Encode([]rune(object.Text))); n == 0 || n > limit || !utf8.ValidString(object.Text) {
			t.Fatalf("a text of %d characters, want 1 to %d, valid: %.80q", n, limit, object.Text)
		}
		if object.Type == slack.MarkdownType && !object.Verbatim {
			t.Fatalf("a text in which Slack would look for links: %.80q", object.Text)
		}
		all = append(all, object.Text)
	}
	for _, block := range blocks {
		switch b := block.(type) {
		case *slack.HeaderBlock:
			add(b.Text, 150)
		case *slack.SectionBlock:
			add(b.Text, 3000)
			if len(b.Fields) > 10 {
				t.Fatalf("%d fields, want at most 10", len(b.Fields))
			}
			for _, field := range b.Fields {
				add(field, 2000)
			}
		case *slack.ContextBlock:
			if n := len(b.ContextElements.Elements); n == 0 || n > 10 {
				t.Fatalf("%d elements of a context, want 1 to 10", n)
			}
			for _, element := range b.ContextElements.Elements {
				add(element.(*slack.TextBlockObject), 3000)
			}
		default:
			t.Fatalf("a block of another type: %T", block)
		}
	}
	return all
}

// whole is what a message holds in all: its blocks' texts and its own.
func total(all []string, n Notice) int {
	sum := len(utf16.Encode([]rune(escape(fallback(n)))))
	for _, text := range all {
		sum += len(utf16.Encode([]rune(text)))
	}
	return sum
}

// TestBothRenderingsSayTheSame: every line of the text is in the blocks, and
// every word of the blocks is in the text.
func TestBothRenderingsSayTheSame(t *testing.T) {
	unescape := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "*", " ", fence, " ", "•", " ", "|", " ")
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '<' || r == '>' || r == '·' || r == ':' })
	}
	for name, n := range goldenNotices(t) {
		var inBlocks []string
		for _, text := range texts(t, Blocks(n)) {
			inBlocks = append(inBlocks, words(unescape.Replace(text))...)
		}
		inText := words(strings.ReplaceAll(Text(n), "•", " "))
		slices.Sort(inBlocks)
		slices.Sort(inText)
		if !slices.Equal(inBlocks, inText) {
			t.Errorf("%s: the blocks say\n%q\nthe text says\n%q", name, inBlocks, inText)
		}
	}
}

// TestHostileOutcomes: whatever an API and a config put into the outcomes, the
// message stays within every limit, keeps its fences and addresses nobody.
func TestHostileOutcomes(t *testing.T) {
	hostile := []string{
		strings.Repeat("&<>", 1200),
		strings.Repeat("word ", 800),
		strings.Repeat("x", 4000),
		strings.Repeat("`code` ```", 400),
		"<!channel> <@U012> <http://evil.example|click> *bold*",
		"\x00\x1b[31m\u202e\u200b\xff\xfe",
		strings.Repeat("日本語🙂", 900),
	}
	for i, evil := range hostile {
		for _, rungs := range []int{1, 60} {
			n := firingOf(t, evil, rungs)
			all := texts(t, Blocks(n))
			if sum := total(all, n); sum > maxCharacter {
				t.Errorf("hostile %d, %d rungs: %d characters in all, want at most %d", i, rungs, sum, maxCharacter)
			}
			for _, text := range all {
				if strings.Contains(text, "<!") || strings.Contains(text, "<@") || strings.Contains(text, "<http://evil") {
					t.Errorf("hostile %d: the markup got through: %.200q", i, text)
				}
				if strings.Count(text, fence)%2 != 0 {
					t.Errorf("hostile %d: a fence is open: %.200q", i, text)
				}
				if strings.ContainsAny(text, "\x00\x1b\u202e\u200b") {
					t.Errorf("hostile %d: control characters got through: %q", i, text)
				}
			}
			// What follows long sections is still there.
			joined := strings.Join(all, "\n")
			for _, want := range []string{"What to change", "perch run --only", "7c9e6679f3a1"} {
				if !strings.Contains(joined, want) {
					t.Errorf("hostile %d, %d rungs: %q is missing", i, rungs, want)
				}
			}
		}
	}
}

// firingOf is the incident's notice with evil in every text, and with many rungs.
func firingOf(t *testing.T, evil string, rungs int) Notice {
	t.Helper()
	o := banded()
	o.Message, o.Client.Experiences = evil, evil
	o.Notice = probes.NoticeInfo{Owner: evil, Severity: evil, Runbook: "https://wiki.example/" + evil, URL: evil}
	o.Advice = []string{evil, "second " + evil, "third " + evil, "fourth " + evil}
	for i := range o.Hypotheses {
		o.Hypotheses[i].Evidence = evil
	}
	run := runOf()
	for i := range rungs {
		o.Hold = time.Duration(i+1) * time.Second
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Vantage = evil
	options := options(0)
	options.FireAfter, options.DashboardURL = 1, evil
	_, told := Decide(Memory{}, run, options)
	if len(told) != 1 {
		t.Fatalf("told %d notices, want 1", len(told))
	}
	return told[0]
}

// TestLongTextsAreCutAtAWord and say where the rest is.
func TestLongTextsAreCutAtAWord(t *testing.T) {
	tests := []struct{ text, want string }{
		{"all of it", "all of it"},
		{"one two three four five", "one two three …"},
		{"one `two three four five`", "one `two three` …"},
		{"a&b a&b a&b a&b", "a&b a&b …"},
		{"unbreakablewordthatislong", "unbreakablewordt …"},
	}
	for _, tt := range tests {
		got := shorten(tt.text, 19, "…")
		if got != tt.want || size(got) > 19 {
			t.Errorf("shortened to %q (%d), want %q", got, size(got), tt.want)
		}
	}
	lines := fit([]string{"first", strings.Repeat("long ", 300), "third", "fourth"}, 200, FormList)
	if len(lines) != 2 || lines[1] != "… and 3 more lines in the report" {
		t.Errorf("fitted to %q", lines)
	}
	lines = fit([]string{strings.Repeat("long ", 300)}, 2000, FormList)
	if len(lines) != 1 || size(lines[0]) > maxLine || !strings.HasSuffix(lines[0], "long "+more) {
		t.Errorf("fitted to %q", lines)
	}
}

// FuzzBlocks renders notices that perch did not write (a state that was
// changed by hand): within the limits all the same, and never a panic.
func FuzzBlocks(f *testing.F) {
	for _, n := range []Notice{{}, {Title: "t", Sections: []Section{{Heading: "h", Form: "odd", Lines: []string{"l"}}}}} {
		content, err := json.Marshal(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content), 1)
	}
	_, told := decideAll(options, incident(), incident())
	content, err := json.Marshal(told[1][0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(content), 70)
	f.Fuzz(func(t *testing.T, content string, times int) {
		var n Notice
		if json.Unmarshal([]byte(content), &n) != nil {
			return
		}
		sections := n.Sections
		for range min(max(times, 1), 100) - 1 {
			n.Sections = append(n.Sections, sections...)
		}
		all := texts(t, Blocks(n))
		if sum := total(all, n); sum > maxCharacter {
			t.Errorf("%d characters in all, want at most %d", sum, maxCharacter)
		}
		_ = Text(n)
	})
}

func TestTheWordsAreTotal(t *testing.T) {
	seen := map[string]probes.Diagnosis{}
	for _, d := range probes.Diagnoses() {
		if words := trouble(d); words == trouble("") || seen[words] != "" {
			t.Errorf("diagnosis %s has no words of its own: %q", d, words)
		} else {
			seen[words] = d
		}
	}
	for _, id := range []probes.HypothesisID{
		probes.HypothesisAPIDown, probes.HypothesisPathBlocks, probes.HypothesisOwnPod,
		probes.HypothesisStalePool, probes.HypothesisRateLimit, probes.HypothesisRetryGap,
	} {
		if id.Words() == string(id) {
			t.Errorf("hypothesis %s has no words", id)
		}
	}
	for _, v := range probes.Verdicts() {
		if verdictWord(v) == "unknown" {
			t.Errorf("verdict %s has no word", v)
		}
	}
	for _, c := range []probes.RetryCover{probes.CoverCovered, probes.CoverUncovered, probes.CoverUnsafe, probes.CoverUnknown} {
		if retries(probes.RetryOutcome{Application: c}) == "" {
			t.Errorf("cover %s has no words", c)
		}
	}
	for _, r := range probes.Reasons() {
		a := probes.Attempt{Reason: r}
		if text := got(a); !strings.Contains(text, string(r)) && r != probes.ReasonOK {
			t.Errorf("reason %s is not named: %q", r, text)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ text, want string }{
		{"GET https://api.example/a?key=hunter2: status 500", "GET https://api.example/a: status 500"},
		{`fetching "https://api.example/a?key=hunter2": reset`, `fetching "https://api.example/a": reset`},
		{"/calendar?days=2.", "/calendar."},
		{"(see https://api.example/?a=b)", "(see https://api.example/)"},
		{"did it work? yes", "did it work? yes"},
		{"two\n lines\tand\x1b[0m", "two lines and [0m"},
		{"a\u202eb\u200b", "ab"},
	}
	for _, tt := range tests {
		if got := clean(tt.text); got != tt.want {
			t.Errorf("clean(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
	for address, want := range map[string]string{
		"https://user:hunter2@api.example:8443/a/b?c=d#e": "https://api.example:8443/a/b",
		"not an address": "", "": "", "://": "",
	} {
		if got := publicURL(address); got != want {
			t.Errorf("publicURL(%q) = %q, want %q", address, got, want)
		}
	}
}

// TestNoRequestDataIsShown: details, addresses' secrets and query strings stay
// out of every rendering and out of the stored notice.
func TestNoRequestDataIsShown(t *testing.T) {
	for name, n := range goldenNotices(t) {
		content, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := json.Marshal(Blocks(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, leaked := range []string{"hunter2", "days=2"} {
			if strings.Contains(Text(n)+string(blocks)+string(content)+fmt.Sprintf("%+v", n), leaked) {
				t.Errorf("%s shows %q", name, leaked)
			}
		}
	}
}

// TestWhatThePeopleOnCallMustRead: the incident's notice holds every
// hypothesis's evidence, in contract.md's order, and says nothing twice.
func TestWhatThePeopleOnCallMustRead(t *testing.T) {
	_, told := decideAll(options, incident(), incident())
	text := strings.Join(strings.Fields(Text(told[1][0])), " ")
	from := 0
	for _, want := range []string{
		"NoHttpResponseException", "sees NoHttpResponseException, before the wrapping: its list does not hold that, and the error reaches the caller.", "0.891 s to 2 s",
		"2026-03-02 12:00 UTC", "2 of the last 2 failed", "team-stock",
		"expected to live for 60 s", "0.5 s pass stayed open", "1.5 s FAIL FIN by peer at 1.001 s", "in 0.3 ms (round trip 110 ms)", "200 in 349 ms",
		"2.5 s: apache-httpclient-4.5 notices that it is dead",
		"IN: the pool kept", "IN: our retries", "OUT: the API is down", "answered 200 in 349 ms", "OUT: the network blocks us. The peer's FIN came through", "OUT: our own pod is too busy. It happens without a busy pod too: perch was delayed by at most 0.1 ms", "OUT: we call too often",
		"setKeepAliveStrategy((response, context) -> 750)", "setValidateAfterInactivity(750)",
		"perch run --only stock-api/calendar-idle --all", "perch idle https://api.partner.example/v1/calendar`", "perch silence add stock-api/calendar-idle --for 2h",
		"https://grafana.example/d/perch", "https://wiki.example/stock-api", "prod-tokyo", "7c9e6679f3a1", "4bf92f3577b34da6a3ce929d0e0e4736",
	} {
		at := strings.Index(text[from:], want)
		if at < 0 {
			t.Fatalf("%q is missing, or comes too early, in\n%s", want, Text(told[1][0]))
		}
		from += at
	}
	if n := strings.Count(text, "failed to respond"); n != 1 {
		t.Errorf("the application's error is told %d times", n)
	}
}

// TestTheLeadIsWhatReachesTheApplication, not the first rung that failed.
func TestTheLeadIsWhatReachesTheApplication(t *testing.T) {
	copes := closedRung(2500*ms, time.Second)
	copes.Verdict, copes.Family = probes.VerdictFail, probes.FamilyConnection
	copes.Client = apache("notices that it is dead and opens a new connection")
	outcomes := []probes.Outcome{rung(ms), copes, banded()}
	if lead := leading(outcomes, probes.FamilyConnection); lead == nil || lead.Hold != 1500*ms {
		t.Errorf("the lead is %+v, want the rung of 1.5 s", lead)
	}
	if lead := leading(outcomes, probes.FamilyLatency); lead != nil {
		t.Errorf("another family's lead is %+v", lead)
	}
}

func TestFormats(t *testing.T) {
	for d, want := range map[time.Duration]string{
		300 * time.Microsecond: "0.3 ms", 40 * ms: "40 ms", 1204 * ms: "1.204 s", 61 * time.Second: "61 s",
		2 * time.Minute: "2 min", time.Hour: "1 h", 48 * time.Hour: "2 d", 3600004 * ms: "3600.004 s",
	} {
		if got := latency(d); got != want {
			t.Errorf("latency(%d) = %q, want %q", d, got, want)
		}
	}
	if got := age(500 * ms); got != "0.5 s" {
		t.Errorf("age of 500 ms: %q", got)
	}
	for d, want := range map[time.Duration]string{
		0: "1 s", 3 * time.Second: "3 s", 59600 * ms: "1 min", 61 * time.Second: "1 min", 15 * time.Minute: "15 min", 185 * time.Minute: "3 h 5 min", 52 * time.Hour: "2 d 4 h",
	} {
		if got := lasted(d); got != want {
			t.Errorf("lasted(%s) = %q, want %q", d, got, want)
		}
	}
}
