// Package diagnose turns a probe's finished observations, with what the last
// run saw, into outcomes: verdict, diagnosis, hypotheses and advice. It is
// pure: one table of rules, walked top to bottom, first match wins. The same
// table makes docs/reasons.md.
package diagnose
