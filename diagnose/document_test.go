package diagnose

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestReasonsDocument keeps docs/reasons.md in step with the tables. With
// -update it writes the file.
func TestReasonsDocument(t *testing.T) {
	path := filepath.Join("..", "docs", "reasons.md")
	want := document()
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/reasons.md is not what the tables say; write it anew: go test ./diagnose -run TestReasonsDocument -update")
	}
}

// document is docs/reasons.md.
func document() []byte {
	var b bytes.Buffer
	b.WriteString(`# Reasons and judgements

Made from the tables in ` + "`probes` and `diagnose`" + `; do not edit. To write it anew: ` + "`go test ./diagnose -run TestReasonsDocument -update`" + `.

A **reason** is what one attempt showed on the wire. A **diagnosis** is what the attempts of an outcome mean together. The
text of an error never decides.

## The reasons, in deciding order

First match wins. "Send again" says whether the request may be repeated on another connection.

| reason | what happened | decided by | send again |
|---|---|---|---|
`)
	for _, r := range probes.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r, Meaning(r), evidenceOf(r), r.Resend())
	}
	b.WriteString(`
An attempt on a fresh connection can end in ` + "`eof` or `reset`" + ` too: its connection (` + "`fresh`, `reused`, `control`" + `) tells them
apart. The ` + "`idle_*`" + ` reasons are for held connections only. Without the kernel's evidence (other systems than Linux) closes are
` + "`eof` or `reset`, and silence is `no_response`" + `.

## Judging

The rules are walked from top to bottom; the first that matches decides.
Verdicts: **pass**; **degraded** (served, but only by luck or a retry); **fail**; **skipped** (nothing to judge); **incomplete**
(perch could not judge).
`)
	writeTables(&b)
	b.WriteString(documentEnd())
	return b.Bytes()
}

func writeTables(b *bytes.Buffer) {
	for _, table := range []Table{TableEverything, TableRung, TableMany, TableFresh, TableElse} {
		fmt.Fprintf(b, "\n### %s\n\n%s", table, introduction(table))
		b.WriteString("| reason | when | verdict | diagnosis | family | why |\n|---|---|---|---|---|---|\n")
		for _, r := range Rules() {
			if r.Table != table {
				continue
			}
			diagnosis, family := code(string(r.Diagnosis)), string(r.Family)
			if r.Verdict == probes.VerdictPass {
				diagnosis, family = "", ""
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", reasonNames(r), conditions(r), r.Verdict, diagnosis, family, r.Why)
		}
	}
}

func introduction(t Table) string {
	switch t {
	case TableRung:
		return `A held connection that was reused, and a call of a burst on a connection of its pool, whose burst's control is its own; the worst
of a burst's calls decides. A warm-up or a control that failed is judged as a fresh exchange instead.

The age is that of the close where one was seen, else of the reuse, against ` + "`keep_alive`" + `: **early** is before ` + "`keep_alive - tol`" + `,
**within** is less than ` + "`tol`" + ` away from it, **longer** is after it, or no ` + "`keep_alive`" + ` was given. ` + "`tol`" + ` is 5% of ` + "`keep_alive`" + `, at
least 100 ms, at most 1 s. With ` + "`unused: true`" + ` connections that never carried a request are a ladder of their own, judged by the same
lines against the same ` + "`keep_alive`" + `, but for the one about the answer before. An early close is, in this order:

- **c**, if the last run saw this hold end early at about the same age (within a tick: 10 s, at most half of ` + "`keep_alive`" + `), and all that is seen fits
  a server that ends at its ticks what is idle: nothing that ended with it is younger or older by more than a tick, and no rung lived longer by more;
- **a**: another rung on the same remote address idled longer by ` + "`tol`" + ` and worked;
- **b**: two or more connections were closed within 1 s of each other, at idle ages that differ by more than ` + "`tol`" + `;
- **c**: two or more rungs ended at the same idle age (within ` + "`tol`" + `) at different moments (half of how far apart the plan warms rungs, at most 1 s), or
  one of any hold did in the last run;
- **d**: the probe's only rung, and no run before is known;
- **e**: a first sighting; the next run decides.

`
	case TableMany:
		return `Kind http with ` + "`requests`" + `: a request that failed after others on the same connection had been answered. A connection that the
server ended after saying so (` + "`Connection: close`" + ` on the last answer, a GOAWAY that serves it) has a healthy limit: its first answer decides.

`
	case TableFresh:
		return `Kinds http, grpc and tls, every warm-up and every control; of a reused connection only whole answers that say nothing of the connection.
"Again" is perch's second try on another fresh connection; for a control, another fresh exchange of the probe that worked
within 10 s after it. Where no line says "again ok", perch does not try again.
Rungs of kind idle do not watch the certificate's end ([certificates.md](certificates.md)).

`
	case TableEverything, TableElse:
		return ""
	}
	return ""
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// reasonNames lists a rule's reasons; long lists that others hold too by name.
func reasonNames(r Rule) string {
	switch {
	case len(r.Reasons) == 0:
		return "any"
	case slices.Equal(r.Reasons, failures()):
		return "any failure"
	case slices.Equal(r.Reasons, unanswered()):
		return "any failure below"
	case slices.Equal(r.Reasons, ended()):
		return "any close"
	}
	var names []string
	for _, reason := range r.Reasons {
		names = append(names, code(string(reason)))
	}
	return strings.Join(names, " ")
}

// conditions words when a rule applies, beside its reasons.
func conditions(r Rule) string {
	var when []string
	add := func(ok bool, format string, values ...any) {
		if ok {
			when = append(when, fmt.Sprintf(format, values...))
		}
	}
	add(r.Delayed, "delayed as long as the failure took")
	add(r.Exhausted, "the system refused perch a descriptor or a local port")
	add(r.Instant, "closed within 100 ms of the answer")
	add(r.Changed, "two runs agree that the bound has moved, and it is not a fail by itself")
	add(len(r.Causes) > 0, "%s", joined(r.Causes))
	add(slices.Equal(r.Control, []Control{ControlNone}), "no control was made")
	add((r.Table == TableFresh || r.Table == TableRung) && len(r.Again) > 0, "again %s", joined(r.Again))
	add(len(r.Ages) > 0, "%s", joined(r.Ages))
	add(len(r.Early) > 0, "case %s", joined(r.Early))
	add(len(r.Expiry) > 0, "certificate expires %s", joined(r.Expiry))
	return strings.Join(when, "; ")
}

func joined[T ~string](values []T) string {
	var words []string
	for _, v := range values {
		words = append(words, string(v))
	}
	return strings.Join(words, " or ")
}

func documentEnd() string {
	return `
Where the system refused perch a file descriptor or a local port, the failure is perch's own, however it looks.

A delay of perch explains a failure when it is at least as long as the failing attempt and at least 50 ms; half as long where the
attempt's time has the delay within it: an opening that timed out, an answer that was only slow. What the API answers on a fresh
connection no delay explains. A close that lay in our kernel before we wrote is explained by it only if it came after the instant at which the reuse was due.

### With a declared client

The **danger band** is the idle ages at which the application's client would use a connection that the path has closed
already: from the measured timeout, less round trip and resolution, to the age at which the client stops by itself or looks
first. Looking does not see silence.

Inside its band, and only for ` + "`early_close` and `stale_connection`" + `, the client can make a verdict worse, never better: an error that
reaches the application is a fail, one that only a retry hides is degraded.

### Hypotheses

Every outcome that is not a pass carries all six, each ruled in, out or open, with evidence made of measured values.

| id | in | out | else open |
|---|---|---|---|
| ` + "`api_down`" + ` | the control, or a fresh exchange, failed | the control, or a second try, worked; or it answered, though not as expected | nothing was asked of it (no name, no certificate to trust, an error of this system, a proxy's own failure); no control; another fresh connection worked after a failed control; perch itself failed |
| ` + "`path_blocks`" + ` | ` + "`blackhole`" + `, or a connect timeout while other targets answered within a minute of it | the attempt was answered, or all its bytes were acknowledged; or the peer's own close came through (FIN, close_notify, GOAWAY, pushed bytes) and a fresh connection beside it was answered: a block would not have let that one pass | TCP ends before the API; a bare RST, which a device in between can send, unless it came from as far as a TLS peer; acknowledgement unknown or partial; no connection was made; perch itself was late |
| ` + "`own_pod`" + ` | perch was delayed for as long as the failure took, or the system refused it a descriptor or a local port | its delay is at most half of that, descriptors and ports are well below their limits | not measurable, or too near to tell |
| ` + "`stale_pool`" + ` | ended at an idle age inside the client's band (no client declared: at any age, with the control ok) | a fresh connection failed too; it was answered; its end did not follow idle age | outside of the band; the control was answered, though not as expected; perch itself was late |
| ` + "`rate_limit`" + ` | a 429, or a Retry-After | no 429, and the share in use is known | the share is not known |
| ` + "`retry_gap`" + ` | the declared policy misses this error | it covers it, the client notices or retries by itself, or a retry would meet the same answer | no client or no policy declared; perch itself failed |

How late perch woke and looked is the measure of its delay. A stall of the process counts only where time alone decided (` + "`no_response`, `slow`" + `,
openings that timed out); the time for which a CPU quota throttled it, only where a delay was seen.
`
}

// evidenceOf says what decides a reason.
func evidenceOf(r probes.Reason) string {
	switch r {
	case probes.ReasonCanceled:
		return "the deadline or a signal ended the step"
	case probes.ReasonSkipped:
		return "budget, breaker, Retry-After, or not due"
	case probes.ReasonInternal:
		return "a panic, or anything that no other line explains"
	case probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout, probes.ReasonConnectFailed, probes.ReasonProxy:
		return "the phase before a connection existed"
	case probes.ReasonCertificate:
		return "the verification failed"
	case probes.ReasonTLS:
		return "any other failure of the handshake"
	case probes.ReasonNoKeepAlive:
		return "the warm answer of an idle probe said `Connection: close`, or was HTTP/1.0 without keep-alive"
	case probes.ReasonOK:
		return "a whole answer that meets every expectation"
	default:
		return evidenceOfExchange(r)
	}
}

func evidenceOfExchange(r probes.Reason) string {
	switch r {
	case probes.ReasonIdleGoaway:
		return "HTTP/2: a GOAWAY frame before our request"
	case probes.ReasonIdleCloseNotify:
		return "TLS: a close_notify alert before our write, with or without a FIN"
	case probes.ReasonIdleBytes:
		return "application bytes queued before our write, or whose first segment does not acknowledge our request"
	case probes.ReasonIdleFIN:
		return "the socket was in CLOSE_WAIT before our write (or closed, and the write said EPIPE)"
	case probes.ReasonBlackhole:
		return "no byte in time, nothing acknowledged, two or more retransmissions; or TCP keep-alive gave up while idle"
	case probes.ReasonIdleRST:
		return "the socket was reset before our write, with no FIN before it"
	case probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed:
		return "HTTP/2: our stream against the last id of the GOAWAY"
	case probes.ReasonRefusedStream, probes.ReasonStreamReset:
		return "HTTP/2: the code of the RST_STREAM"
	case probes.ReasonCrossedClose:
		return "clean before the write, then a FIN that does not acknowledge our request"
	case probes.ReasonEOF:
		return "clean before the write, then a FIN with our request acknowledged"
	case probes.ReasonReset:
		return "clean before the write, then a RST"
	case probes.ReasonNoResponse:
		return "no byte by the timeout, and not `blackhole`"
	default:
		return evidenceOfAnswer(r)
	}
}

func evidenceOfAnswer(r probes.Reason) string {
	switch r {
	case probes.ReasonPartialHead, probes.ReasonPartialBody:
		return "bytes came, then EOF, RST or the timeout"
	case probes.ReasonBadResponse:
		return "not HTTP, limits of the head exceeded, or conflicting lengths"
	case probes.ReasonTooLarge:
		return "more than `max_body`, before or after decompression"
	case probes.ReasonProxyUpstreamReset:
		return "a complete 502 or 503 by a proxy about its own connection"
	case probes.ReasonRateLimited:
		return "the status, or gRPC's RESOURCE_EXHAUSTED, unless the probe expects it"
	case probes.ReasonUnavailable:
		return "the status, or gRPC's UNAVAILABLE or DEADLINE_EXCEEDED, or a health check that is not SERVING, unless the probe expects it"
	case probes.ReasonUnauthorized:
		return "the status, or gRPC's UNAUTHENTICATED or PERMISSION_DENIED, unless the probe expects it; or the token endpoint gave no token, and nothing was sent"
	case probes.ReasonRedirected:
		return "the status, unless the probe expects it"
	case probes.ReasonStatus:
		return "an expectation about only the status failed, or gRPC's code is another one"
	case probes.ReasonSlow:
		return "an expectation about only the latency failed"
	case probes.ReasonExpectation:
		return "any other expectation failed, or could not be evaluated"
	default:
		return ""
	}
}

// TestEveryReasonHasEvidence: the document explains the whole set.
func TestEveryReasonHasEvidence(t *testing.T) {
	for _, r := range probes.Reasons() {
		if evidenceOf(r) == "" {
			t.Errorf("%s has no evidence", r)
		}
	}
}
