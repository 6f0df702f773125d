package probes

import (
	"net/http"
	"time"
)

// Audits is what `perch audit` says of a whole config.
type Audits struct {
	Version    string
	Name       string   // the config's; empty: it has none
	Audits     []Audit  // one for each client that is declared differently
	Undeclared []string // targets without a client: there is nothing to judge
	Unjudged   []string // what clients do that the catalog knows nothing of, each with the target, and why
	Doubts     []string // entries of retry lists that are probably misspelt, each with file:line
}

// Audit is what a declared client and its retry policy make of each failure
// that the wire can show.
type Audit struct {
	Client  Client   // as declared
	Name    string   // as people call it
	Wrapper string   // what wraps its errors, as people call it; empty: nothing
	Targets []string // whose client this is
	Rows    []AuditRow
	Missing []string // errors that the retry list would have to hold too for no network failure to be missed, as the application writes them
	Answers []string // statuses, likewise, for no answer that says "later" to be missed
	Useless []string // entries that cover nothing, since the declared layer never sees them
	Notes   []string // what the list would cover on the other layer, where the client looks first, and the like
	Doubts  []string // why the useless entries are
}

// Missed reports whether a network failure is missed that a retry policy
// should cover: what `perch audit` fails for.
func (a Audit) Missed() bool {
	for _, r := range a.Rows {
		if r.Counts {
			return true
		}
	}
	return false
}

// Unknown are the network failures of a GET of which the catalog does not say what the
// client makes: over HTTP/2 not all were measured.
func (a Audit) Unknown() []Reason {
	var all []Reason
	for _, r := range a.Rows {
		if a.Client.HTTP2 && r.Method == http.MethodGet && r.Transient && r.Experiences == "" {
			all = append(all, r.Reason)
		}
	}
	return all
}

// AuditRow is one reason, for one method, on a connection that was idle for so
// short a time that the client does not look at it.
type AuditRow struct {
	Reason      Reason
	Method      string
	Transient   bool // a retry policy should cover it: sent again it will probably work
	Answer      bool // what comes out is an answer, or looks like one, and no error
	Result      AuditResult
	Counts      bool          // missed, transient, no answer, and the method is idempotent: the audit fails
	By          string        // who sends again: the client itself, or the entry of the list that does; empty: nobody
	Experiences string        // what comes out of the client, in its own words; empty: the catalog does not say
	Wrapped     string        // what the wrapper makes of that: a class; empty: nothing, or there is no wrapper
	Entry       string        // what the list would have to hold; empty: no error comes out, or none that a list can name
	NoticedFrom time.Duration // idle age from which the client looks and notices it; 0: looking changes nothing
}

// AuditResult is what an audit says of one reason.
type AuditResult string

// The results, the worst last.
const (
	AuditNoticed AuditResult = "noticed" // the client opens a new connection before it sends: nothing to see
	AuditRetried AuditResult = "retried" // sent again, by the client or by the policy, and that is safe
	AuditLeft    AuditResult = "left"    // not sent again, and rightly: it would not help, or might be executed twice
	AuditUnknown AuditResult = "unknown" // the catalog does not say, or no policy is declared
	AuditUnsafe  AuditResult = "unsafe"  // sent again, though it may have been executed
	AuditMissed  AuditResult = "missed"  // not sent again, though it could be: it reaches the application
)

// KnownClient is a client of the catalog, for those who declare theirs. All but
// Kind and Wrappers are words.
type KnownClient struct {
	Kind     string   // the key in a config: client.kind
	Name     string   // as people call it, and its language
	Versions string   // what the documented facts hold for
	Measured string   // the version that the measured facts hold for; empty: none are
	Idle     string   // when it drops an idle connection by itself
	Looks    string   // from which idle age it looks before it uses one, and how
	Retries  string   // its own second try, and what turns that off
	Wrappers []string // keys for client.wrapped_by; empty: none wraps it
}
