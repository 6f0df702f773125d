package probes

import "time"

// Outcome is the judgement on one rung (idle) or one probe, with everything
// that a sink needs.
type Outcome struct {
	Target, Probe string
	Kind          Kind
	Verdict       Verdict
	Reason        Reason // of the attempt that decided
	Diagnosis     Diagnosis
	Family        Family
	Message       string // one human sentence
	ByClient      bool   // the connection ended as expected; the declared client makes it worse

	Method     string
	Hold       time.Duration // idle
	Search     bool
	Unused     bool             // idle: the connection carried nothing before it was held
	EndsAtAge  time.Duration    // the server ends connections at this age, idle or not, and told; 0: nothing says so
	Limit      *ConnectionLimit // how many requests a connection carried; nil: it was not looked for, nor told
	Burst      *BurstSeen       // burst: what its calls met; nil: another kind, or it did not get so far
	Predicted  []Prediction     // what the application's calls would meet; nil: nothing was measured, or their times are not known
	KeepAlive  time.Duration    // expected; 0: not said
	Every      time.Duration
	Started    time.Time
	Attempts   []Attempt
	Close      *Close // nil: none seen
	ClosedBy   string // "peer", "unknown"; empty: no close
	Path       Path
	Retry      RetryOutcome
	Client     *ClientOutcome // nil: not declared
	Hypotheses []Hypothesis
	Advice     []string
	Notice     NoticeInfo
	RetryGaps  []RetryGap // with a declared client and policy: every reason it was judged for
	Accepted   *Accepted  // a fail that is accepted today: no incident counts it; nil: it is not
	Lapsed     *Accepted  // what would have accepted it, had its time not ended; nil: nothing
	Problem    string     // what perch itself did wrong; also in Run.Problems
}

// ID is "target/probe".
func (o Outcome) ID() string { return o.Target + "/" + o.Probe }

// RetryOutcome says what perch's own second try did, and what the
// application's policy would have done.
type RetryOutcome struct {
	Result      RetryResult
	Application RetryCover // empty: nothing to retry
	Hidden      bool       // the client's own automatic retry sends it again: no retry layer sees an error
	Beside      string     // what the layer sees in place of the error that its list does hold: "the retry layer inside X sees Y, ..."; empty: it holds neither
}

// RetryResult is the fate of perch's own second try (or of the control).
type RetryResult string

// The results.
const (
	RetryNotNeeded RetryResult = "not_needed"
	RetryRecovered RetryResult = "recovered"
	RetryFailed    RetryResult = "failed"
	RetryUnsafe    RetryResult = "unsafe"
	RetryNotTried  RetryResult = "not_tried"
)

// RetryCover says whether the application's policy covers a reason.
type RetryCover string

// The covers.
const (
	CoverCovered   RetryCover = "covered"
	CoverUncovered RetryCover = "uncovered"
	CoverUnsafe    RetryCover = "unsafe"
	CoverUnknown   RetryCover = "unknown"
)

// RetryGap is one cell of perch_retry_gap.
type RetryGap struct {
	Client string
	Reason Reason
	Gap    bool
}

// ClientOutcome is what the application's client makes of it.
type ClientOutcome struct {
	Kind        string
	Experiences string    // what it throws or returns, in its own words; empty: nothing
	Band        *Band     // nil: no danger band
	Settings    []Setting // as declared

	// Result is what becomes of the request that Experiences tells; empty: not known.
	Result ClientResult

	// What follows is said of the common clients alone (Run.Clients), whose
	// Experiences tell of a GET.
	Post       string       // what it makes of a POST, where that differs; empty: the same
	PostResult ClientResult // of a POST
	Safe       string       // its own setting that ends the band, or keeps idle below KeepBelow, in its own syntax; empty: none is needed, or none can
	// KeepBelow is said of a client without a band that keeps connections up to
	// the close, so that a request and the close can cross on the way: the idle
	// limit below which they cannot. 0: a band, or nothing to do.
	KeepBelow time.Duration
}

// ClientResult is what becomes of a request on a connection that is dead.
type ClientResult string

// The results; empty is one that is not known.
const (
	ClientNotices ClientResult = "noticed" // it used another connection
	ClientRetries ClientResult = "retried" // it sent the request again without a word
	ClientFails   ClientResult = "error"   // the application is told
)

// Band is the danger band: idle ages at which the client would use a
// connection that the path has already closed.
type Band struct {
	From, To time.Duration
	Open     bool // no upper end: the client never stops nor looks; To is 0
}

// HypothesisID names one of the six.
type HypothesisID string

// The hypotheses, in the order in which they are shown.
const (
	HypothesisAPIDown    HypothesisID = "api_down"
	HypothesisPathBlocks HypothesisID = "path_blocks"
	HypothesisOwnPod     HypothesisID = "own_pod"
	HypothesisStalePool  HypothesisID = "stale_pool"
	HypothesisRateLimit  HypothesisID = "rate_limit"
	HypothesisRetryGap   HypothesisID = "retry_gap"
)

// Hypothesis is one explanation, ruled in or out by measured values.
type Hypothesis struct {
	ID       HypothesisID
	Ruled    Ruling
	Evidence string
}

// Ruling is in, out or open.
type Ruling string

// The rulings.
const (
	RuledIn   Ruling = "in"
	RuledOut  Ruling = "out"
	RuledOpen Ruling = "open"
)
