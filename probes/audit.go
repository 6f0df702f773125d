package probes

// Audit is what a declared client and its retry policy make of each failure
// that the wire can show.
type Audit struct {
	Client  Client   // as declared
	Name    string   // as people call it
	Targets []string // whose client this is
	Rows    []AuditRow
	Missing []string // what the retry list would have to hold for nothing transient to be missed, as the application writes it
	Notes   []string // what the list would cover on the other layer, where the client looks first, and the like
	Doubts  []string // entries that cover nothing: misspelt, or of the other layer
}

// AuditRow is one reason, for one method.
type AuditRow struct {
	Reason      Reason
	Method      string
	Transient   bool // a failure of the network, which a retry policy should cover
	Result      AuditResult
	By          string // who retries: the client itself, or the entry of the list that does; empty: nobody
	Experiences string // what the application sees, in the client's own words
	Entry       string // what the list would have to hold; empty: no error comes out
}

// AuditResult is what an audit says of one reason.
type AuditResult string

// The results, the worst last.
const (
	AuditNoticed AuditResult = "noticed" // the client opens a new connection before it sends: nothing to see
	AuditRetried AuditResult = "retried" // sent again, by the client or by the policy, and that is safe
	AuditUnknown AuditResult = "unknown" // the catalog does not say, or no policy is declared
	AuditUnsafe  AuditResult = "unsafe"  // sent again, though it may have been executed
	AuditMissed  AuditResult = "missed"  // the error reaches the application
)
