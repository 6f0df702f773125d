package config

import (
	"fmt"
	"net/url"
	pattern "path"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// year is the longest time ahead that somebody still thinks of.
const year = 366 * 24 * time.Hour

// silenceRules check one silence by itself.
func silenceRules(c *checker, at place, m map[string]any) {
	from, begins := m["from"].(time.Time)
	until, ends := m["until"].(time.Time)
	if begins && ends && !from.Before(until) {
		c.wrong(c.at(at, "until"), "is not after from", "want a later time")
	}
	c.doubtUntil(at, until)
}

// acceptedRules check one accepted finding by itself.
func acceptedRules(c *checker, at place, m map[string]any) {
	d, _ := m["diagnosis"].(string)
	if diagnosis := probes.Diagnosis(d); d != "" && c.has(at, "idle") && !diagnosis.AtIdleAge() {
		c.wrong(c.at(at, "idle"), d+" does not follow idle age", "leave idle out")
	}
	until, _ := m["until"].(time.Time)
	c.doubtUntil(at, until)
}

// doubtUntil warns about what has no effect any more, and about what nobody
// will remember when it ends.
func (c *checker) doubtUntil(at place, until time.Time) {
	now := c.options.Now
	switch {
	case until.IsZero() || now.IsZero():
	case !until.After(now):
		c.warn(c.at(at, "until"), "is over: it changes nothing any more", "take it out, or give it a new end")
	case until.Sub(now) > year:
		c.warn(c.at(at, "until"), "is more than a year ahead", "want an end at which somebody looks at it again")
	}
}

// webhookRules: one URL, written or read.
func webhookRules(c *checker, at place, m map[string]any) {
	written, _ := m["url"].(string)
	switch {
	case written != "" && c.has(at, "from"):
		c.wrong(at, "has a url and a from", "keep one: url is written here, from names where it is read")
	case looksSecret(written):
		c.exposed(c.at(at, "url"), credential("", written), "looks like a secret", "read it: from: {env: NAME} or from: {file: PATH}")
	}
	c.onceByName(at, m, "headers")
	c.nowhere(at, m, c.has(at, "url") || c.has(at, "from"))
}

func alertmanagerRules(c *checker, at place, m map[string]any) {
	written, _ := m["url"].(string)
	if u, err := url.Parse(written); err == nil {
		switch {
		case strings.Contains(u.Path, "/api/v"):
			c.wrong(c.at(at, "url"), "holds the API's path, which perch adds itself", "leave /api/... out")
		case u.RawQuery != "" || u.ForceQuery:
			c.wrong(c.at(at, "url"), "holds a query", "leave it out: perch adds a path")
		}
	}
	c.onceByName(at, m, "headers")
	c.nowhere(at, m, c.has(at, "url"))
}

// nowhere refuses headers that nothing is sent with.
func (c *checker) nowhere(at place, m map[string]any, somewhere bool) {
	if headers, _ := m["headers"].([]any); len(headers) > 0 && !somewhere && !c.optional {
		c.wrong(at, "has headers but no url", "say where it goes: url: https://...")
	}
}

// slack checks what the levels of Slack's settings show only together.
func (c *checker) slack(out Config) {
	s := out.Slack
	if !s.Webhook.Zero() && !s.BotToken.Zero() {
		c.wrong(c.where("slack.bot_token"), "stands beside webhook", "keep one: with a token an incident is one thread, with a webhook each notice is a message")
	}
	if s.Channel != "" && s.BotToken.Zero() && !c.somewhere("slack.bot_token") {
		c.wrong(c.where("slack.channel"), "needs bot_token", "a webhook's channel is chosen where it was made: leave channel out, or write bot_token: {from: {env: NAME}}")
	}
	if s.BotToken.Zero() || s.Channel != "" || c.somewhere("slack.channel") {
		return
	}
	for _, t := range out.Targets {
		if t.Channel == "" && !c.somewhere("defaults.channel") {
			c.wrong(c.where("slack.bot_token"), fmt.Sprintf("needs a channel: target %q has none of its own", t.Name), `write channel: "#name" beside it`)
			return
		}
	}
}

// doubtChannel warns about a channel that no notice can choose.
func (c *checker) doubtChannel(out Config, t targetSettings) {
	if t.Channel != "" && out.Slack.BotToken.Zero() && !c.somewhere("slack.bot_token") {
		c.warn(c.origin(t.Place, "channel"), "has no effect without slack.bot_token", "a webhook's channel is chosen where it was made: leave it out")
	}
}

// doubtNotices warns about a destination that nothing is ever sent to: what is
// told follows from what earlier runs found.
func (c *checker) doubtNotices(out Config) {
	if !out.tells() && out.Alerts.Mode == ModeNotify && c.somewhere("alerts.mode") {
		c.warn(c.where("alerts.mode"), "is notify, and nobody is named to be told", "write slack: {webhook: {from: {env: NAME}}}, a webhook or an alertmanager, or leave mode out")
	}
	if out.Alerts.Mode == ModeReport || out.State.Kept() {
		return
	}
	for _, key := range []string{"slack.webhook", "slack.bot_token", "webhook", "alertmanager"} {
		named := map[string]bool{
			"slack.webhook": !out.Slack.Webhook.Zero(), "slack.bot_token": !out.Slack.BotToken.Zero(),
			"webhook": out.Webhook.URL != "" || !out.Webhook.From.Zero(), "alertmanager": out.Alertmanager.URL != "",
		}[key]
		if named {
			c.warn(c.where(key), "no incident is ever told there: without state each run would be the first",
				"write state: {file: PATH} or {configmap: NAME}, or alerts: {mode: report} while that is meant")
			return
		}
	}
}

// doubtSilences warns about silences that mute nothing.
func (c *checker) doubtSilences(list []silenceSettings, targets []probes.Target) {
	for _, s := range list {
		if !matchesAny(s.Match, targets) {
			c.warn(c.at(s.Place, "match"), fmt.Sprintf("%q matches no probe of this config", clip(s.Match)), "want target or target/probe, as they are called here")
		}
	}
}

// matchesAny reports whether a pattern means any probe: one that is called so,
// or, without a slash, one whose target is. A * stands for a slash, too.
func matchesAny(match string, targets []probes.Target) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", ".") } // which no * stops at
	means := func(name string) bool {
		ok, _ := pattern.Match(flat(match), flat(name))
		return ok
	}
	return slices.ContainsFunc(targets, func(t probes.Target) bool {
		return !strings.Contains(match, "/") && means(t.Name) ||
			slices.ContainsFunc(t.Probes, func(s probes.Spec) bool { return means(s.ID()) })
	})
}

// doubtAccepted warns about a finding that no probe of the target can give.
func (c *checker) doubtAccepted(list []acceptedSettings, t probes.Target) {
	idle := slices.ContainsFunc(t.Probes, func(s probes.Spec) bool { return s.Kind == probes.KindIdle || s.Kind == probes.KindBurst })
	for _, a := range list {
		at, d := c.at(a.Place, "diagnosis"), probes.Diagnosis(a.Diagnosis)
		switch {
		case !idle && (d.OnlyIdle() || d.AtIdleAge() && a.Idle.To > 0):
			c.warn(at, "no probe of this target can give "+a.Diagnosis+" here: it takes one of kind idle or burst", "take it out, or add such a probe")
		case d == probes.DiagnosisCertificate && t.URL != nil && t.URL.Scheme == "http":
			c.warn(at, "no probe of this target can give "+a.Diagnosis+": its url is plain http", "take it out")
		}
	}
}
