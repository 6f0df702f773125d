package diagnose

import (
	"fmt"
	"strings"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// retryGap is ruled by the declared client and its retry policy.
func (j *judgement) retryGap() (probes.Ruling, string) {
	v, method := j.client, j.method()
	switch {
	case j.facts.Exhausted || j.facts.Delayed:
		return probes.RuledOpen, fmt.Sprintf("what failed after %s was perch itself: the application need not meet it", human(j.at.Elapsed))
	case answered(j.at):
		return probes.RuledOut, "there was nothing to retry: it " + answer(*j.at)
	case j.tokenless():
		return probes.RuledOpen, "nothing was sent: " + j.at.Detail + "; whether the application asks there again is not known"
	case !repeatable(j.at.Reason):
		return probes.RuledOut, "a retry would meet the same: " + j.sameAgain()
	case v == nil && j.rung.obs.Unused:
		return probes.RuledOpen, "it is not known whether the application's client opens connections ahead"
	case v == nil:
		return probes.RuledOpen, fmt.Sprintf("what the application makes of %s is not known: no client is declared", j.at.Reason)
	case v.result == clients.Noticed:
		return probes.RuledOut, fmt.Sprintf("%s %s: nothing to retry", v.name, v.text)
	case v.result == clients.Retried:
		return probes.RuledOut, fmt.Sprintf("%s %s: its own automatic retry hides it, no retry layer has to", v.name, v.text)
	case v.cover == probes.CoverUncovered:
		return probes.RuledIn, j.gapText()
	case v.cover == probes.CoverCovered:
		return probes.RuledOut, fmt.Sprintf("the retry list covers %s: a %s is sent again", v.entry, method)
	case v.cover == probes.CoverUnsafe:
		return probes.RuledOut, fmt.Sprintf("the retry list covers %s, though a %s may have been executed", v.entry, method)
	case v.result == clients.Failed && v.decl.Retry == nil:
		return probes.RuledOpen, fmt.Sprintf("%s comes out, and no retry policy is declared that could cover it", v.entry)
	}
	return probes.RuledOpen, fmt.Sprintf("what %s does with %s is not known", v.name, j.at.Reason)
}

// sameAgain says what would come again.
func (j *judgement) sameAgain() string {
	if j.at.Status > 0 {
		return "it " + answer(*j.at)
	}
	return fmt.Sprintf("%s, after %s", Meaning(j.at.Reason), human(j.at.Elapsed))
}

// gapText says why the declared policy does not retry.
func (j *judgement) gapText() string {
	v := j.client
	policy := v.decl.Retry
	switch {
	case policy != nil && policy.Attempts == 1:
		return fmt.Sprintf("the retry policy makes 1 attempt only: a %s is not sent again", j.method())
	case policy != nil && !policy.Repeats(j.method()):
		return fmt.Sprintf("the retry policy repeats %s only: a %s is not sent again", strings.Join(policy.Methods, ", "), j.method())
	case v.entry == "":
		return fmt.Sprintf("%s %s: no error that a retry could see", v.name, v.text)
	}
	return fmt.Sprintf("the retry list lacks %s%s", v.entry, v.layerText())
}

// layerText continues an error's name with who sees it.
func (v *clientView) layerText() string {
	if v.decl.Retry == nil || v.decl.Retry.Layer == "" {
		return ""
	}
	if wrapper := clients.WrapperName(v.decl.WrappedBy); wrapper != "" {
		return fmt.Sprintf(", which a retry %s %s sees", v.decl.Retry.Layer, wrapper)
	}
	return fmt.Sprintf(", which the retry layer %s sees", v.decl.Retry.Layer)
}
