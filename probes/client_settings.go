package probes

import (
	"strconv"
	"strings"
)

// Setting is one setting of a declared client, as a config writes it.
type Setting struct {
	Name  string `json:"name"` // "max_idle", "retry.errors"
	Value string `json:"value"`
}

// Settings returns what is declared of a client, so that two declarations can
// be compared and shown; what is left at the client's default is left out.
func (c Client) Settings() []Setting {
	var all []Setting
	add := func(name, value string) {
		if value != "" {
			all = append(all, Setting{name, value})
		}
	}
	add("wrapped_by", c.WrappedBy)
	add("max_idle", c.MaxIdle.words())
	add("validate_after", c.ValidateAfter.words())
	if c.TCPKeepAlive > 0 {
		add("tcp_keep_alive", Spoken(c.TCPKeepAlive))
	}
	add("automatic_retries", string(c.AutomaticRetries))
	if c.Retry == nil {
		return all
	}
	add("retry.layer", string(c.Retry.Layer))
	add("retry.attempts", strconv.Itoa(c.Retry.Attempts))
	add("retry.methods", strings.Join(c.Retry.Methods, ", "))
	add("retry.errors", strings.Join(c.Retry.Errors, ", "))
	return all
}

// words writes a limit as a config does; empty: the client's default.
func (l Limit) words() string {
	if l.Mode == LimitAfter {
		return Spoken(l.After)
	}
	return string(l.Mode)
}
