package diagnose

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// raceReasons are the faces of one race: a close at the idle timeout meets the
// request before it is written, on its way, or when it has arrived, and servers
// differ in what they then send. Whoever meets one will meet the others.
func raceReasons() []probes.Reason {
	return []probes.Reason{probes.ReasonIdleFIN, probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset}
}

// retryAdvice names the entries that the retry list lacks, for this reason and
// the others of its race, or warns of one that goes too far. The client cannot
// tell a request that was never read from one that was read and dropped: both
// are one error.
func (j *judgement) retryAdvice() []step {
	steps := j.retrySteps()
	if own := j.turnOnAgain(); own != "" && len(steps) > 0 {
		steps = append(steps, alternative(own))
	}
	return steps
}

func (j *judgement) retrySteps() []step {
	v := j.client
	switch {
	case v.result == clients.Unknown && !slices.Contains(ended(), j.at.Reason):
		return nil
	case v.cover == probes.CoverUnsafe && v.entry != "":
		return []step{next(fmt.Sprintf("restrict `%s` in the retry list to idempotent methods (and tell perch by `retry.methods`): a %s may have been executed already.", v.entry, j.method()))}
	case v.cover == probes.CoverUnsafe:
		return []step{next(fmt.Sprintf("turn off %s's own retry for a %s: it sends again what may have been executed already.", v.name, j.method()))}
	}
	entries := v.missing(j)
	switch {
	case v.decl.Retry != nil && !readOnly(j.method()) && !v.decl.Retry.Repeats(j.method()):
		return nil // left out on purpose
	case v.once() && v.result == clients.Failed && len(entries) == 0:
		return []step{next("let the retry policy make 2 attempts (now 1), " + v.only() + ": " + j.executed(nil))}
	case v.leavesOut(j.method()) && v.result == clients.Failed && len(entries) == 0:
		return []step{next(fmt.Sprintf("let the retry policy repeat a %s, too (now %s only): %s", j.method(), strings.Join(v.decl.Retry.Methods, ", "), j.executed(nil)))}
	case len(entries) == 0:
		return nil
	}
	what := "to " + v.list()
	switch {
	case v.decl.Retry == nil && readOnly(j.method()) && v.ownRetry() != "":
		return []step{next(fmt.Sprintf("let %s send again what is idempotent, so that %s does not reach the application: `%s`. A request may then be executed twice.",
			v.name, strings.Join(strings.Split(quoted(entries), " and "), " or "), v.ownRetry()))}
	case v.decl.Retry == nil:
		what = "to the errors that the application retries"
	case v.once():
		what += ", and make 2 attempts (now 1)"
	case v.leavesOut(j.method()):
		what += fmt.Sprintf(", and let it repeat a %s, too (now %s only)", j.method(), strings.Join(v.decl.Retry.Methods, ", "))
	}
	advice := []step{next(fmt.Sprintf("add %s %s, %s: %s", quoted(entries), what, v.only(), j.executed(entries)))}
	if around := j.aroundAdvice(); around != "" {
		advice = append(advice, alternative(around))
	}
	return advice
}

// turnOnAgain is the other way where the client's own retry, which the
// declaration says is off, would have hidden this failure, and sends no POST
// again. Empty: it is not so.
func (j *judgement) turnOnAgain() string {
	decl, method := j.client.decl, j.method()
	c, _ := clients.Lookup(decl.Kind)
	if decl.AutomaticRetries != probes.SwitchNone || c.Retries.Off == "" || !readOnly(method) || j.client.result != clients.Failed {
		return ""
	}
	decl.AutomaticRetries = probes.SwitchDefault
	again := func(reason probes.Reason, method string) bool {
		_, result, _ := clients.Experience(decl, reason, method, j.client.idle)
		return result == clients.Retried
	}
	reasons := []probes.Reason{j.at.Reason}
	if slices.Contains(ended(), j.at.Reason) {
		reasons = append(reasons, raceReasons()...)
	}
	executed := ""
	for _, reason := range reasons {
		if again(reason, http.MethodPost) {
			return ""
		}
		if again(reason, method) && reason.Resend() != probes.ResendSafe {
			executed = ", even if the server has executed it"
		}
	}
	if !again(j.at.Reason, method) {
		return ""
	}
	off := strings.TrimPrefix(c.Retries.Off[strings.LastIndex(c.Retries.Off, ").")+1:], ".")
	return fmt.Sprintf("turn %s's automatic retries on again (without `%s`): after such an end they repeat idempotent methods only, a %s among them%s; no POST.",
		c.Name, off, method, executed)
}

// once reports whether the policy tries a request once only.
func (v *clientView) once() bool { return v.decl.Retry != nil && v.decl.Retry.Attempts == 1 }

// leavesOut reports whether the policy does not repeat a method that changes
// nothing: a POST is left out rightly.
func (v *clientView) leavesOut(method string) bool {
	return v.decl.Retry != nil && readOnly(method) && !v.decl.Retry.Repeats(method)
}

// ownRetry is the setting by which the client itself, or what comes with it,
// sends again what is idempotent. Empty: none.
func (v *clientView) ownRetry() string {
	c, _ := clients.Lookup(v.decl.Kind)
	return c.Settings.Retry
}

// missing are the entries that the list lacks, this reason's first.
func (v *clientView) missing(j *judgement) []string {
	reasons := []probes.Reason{j.at.Reason}
	if slices.Contains(ended(), j.at.Reason) {
		reasons = append(reasons, raceReasons()...)
	}
	decl := v.decl
	if v.once() || v.leavesOut(j.method()) { // what the list lacks, not that it is not used
		policy := *decl.Retry
		policy.Attempts, policy.Methods = max(2, policy.Attempts), nil
		decl.Retry = &policy
	}
	var entries []string
	for _, reason := range reasons {
		_, result, cover := clients.Experience(decl, reason, j.method(), v.idle)
		lacks := cover == probes.CoverUncovered || cover == probes.CoverUnknown
		if entry := clients.RetryEntry(decl, reason, j.method(), v.idle); result == clients.Failed && lacks && entry != "" && !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// list says which retry list is meant, where a layer wraps errors: the wrapper
// has none of its own.
func (v *clientView) list() string {
	wrapper := clients.WrapperName(v.decl.WrappedBy)
	switch {
	case v.decl.Retry == nil || v.decl.Retry.Layer == "" || wrapper == "":
		return "the retry list"
	case v.decl.Retry.Layer == probes.LayerInside:
		return fmt.Sprintf("the list of the retry layer that calls %s (inside %s: an interceptor or a request factory)", v.name, wrapper)
	}
	return fmt.Sprintf("the list of the retry layer that calls %s (around it)", wrapper)
}

// only says for which methods an entry is safe.
func (v *clientView) only() string { return "for idempotent methods only" }

// aroundAdvice is the other way where the same list would do on the layer
// around the wrapper; empty where it would not.
func (j *judgement) aroundAdvice() string {
	decl := j.client.decl
	wrapper := clients.WrapperName(decl.WrappedBy)
	if decl.Retry == nil || decl.Retry.Layer != probes.LayerInside || wrapper == "" {
		return ""
	}
	policy := *decl.Retry
	policy.Layer = probes.LayerAround
	decl.Retry = &policy
	_, _, cover := clients.Experience(decl, j.at.Reason, j.method(), j.client.idle)
	if cover != probes.CoverCovered {
		return ""
	}
	return fmt.Sprintf("move that retry around %s, for idempotent methods only: its list covers what comes out there, `%s`, which wraps every failure of the network, also of what may have been executed.",
		wrapper, clients.RetryEntry(decl, j.at.Reason, j.method(), j.client.idle))
}

// executed says whether this request, and others with the same error, may have
// been executed.
func (j *judgement) executed(entries []string) string {
	safe := j.at.Reason.Resend() == probes.ResendSafe
	switch {
	case len(entries) > 1 && safe:
		return "the same race can show as either, even if the server has already executed the request."
	case len(entries) > 1:
		return "the same race can show as either, and the request may have been executed."
	case safe:
		return "this request was never accepted, but the same error also follows requests that the server had read and may have executed."
	}
	return "the request may have been executed."
}

// quoted lists names as code.
func quoted(names []string) string {
	code := make([]string, len(names))
	for i, name := range names {
		code[i] = "`" + name + "`"
	}
	if len(code) < 2 {
		return strings.Join(code, "")
	}
	return strings.Join(code[:len(code)-1], ", ") + " and " + code[len(code)-1]
}
