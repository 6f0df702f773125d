package main

import (
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"perch.example/alert"
	"perch.example/config"
)

// listed is a silence as it is shown.
type listed struct {
	ID     string       `json:"id"` // empty: the config's
	Match  string       `json:"match"`
	From   time.Time    `json:"from,omitzero"`
	Until  time.Time    `json:"until"`
	Reason string       `json:"reason"`
	By     string       `json:"by"` // "config": it stands there
	State  silenceState `json:"state"`
}

// allSilences are the config's, then the state's.
func allSilences(cfg config.Config, kept []silence, now time.Time) []listed {
	list := []listed{} // none is [] in JSON
	for _, s := range cfg.Alerts.Silences {
		list = append(list, show(silence{Silence: alert.Silence{Match: s.Match, From: s.From, Until: s.Until, Reason: s.Reason}, By: "config"}, now))
	}
	for _, s := range kept {
		list = append(list, show(s, now))
	}
	return list
}

func show(s silence, now time.Time) listed {
	at := stateOf(s.Silence, now)
	if s.unread != nil {
		at = silenceUnreadable
	}
	return listed{ID: s.ID, Match: s.Match, From: s.From, Until: s.Until, Reason: s.Reason, By: s.By, State: at}
}

func writeSilences(w io.Writer, list []listed, format string) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(list)
	}
	if len(list) == 0 {
		_, err := io.WriteString(w, "no silences\n")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rows := [][]string{{"ID", "MATCH", "STATE", "FROM", "UNTIL", "BY", "REASON"}}
	for _, s := range list {
		rows = append(rows, []string{orDash(s.ID), s.Match, string(s.State), since(s.From), stamp(s.Until), orDash(s.By), s.Reason})
	}
	for _, row := range rows {
		for n, cell := range row {
			row[n] = inLine(cell)
		}
		if _, err := io.WriteString(table, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	return table.Flush()
}

// since is when a silence begins; one of the config may have begun always.
func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return stamp(t)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
