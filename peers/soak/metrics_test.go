//go:build soak

package soak

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// series are the values that a scrape shows, by name and labels as they are written.
type series map[string]float64

func scrape(t *testing.T, address string) series {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Errorf("scraping: %v", err)
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("scraping: status %d, %v", resp.StatusCode, err)
		return nil
	}
	all := series{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := cutLast(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.HasPrefix(name, "#") {
			all[name] = v
		}
	}
	return all
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// label is a label's value in a series as it is written; empty: it has none.
func label(written, name string) string {
	_, rest, _ := strings.Cut(written, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// reasons are how attempts ended, by target.
func (s series) reasons() map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for name, value := range s {
		if !strings.HasPrefix(name, "perch_attempts_total{") || value == 0 {
			continue
		}
		target := label(name, "target")
		if all[target] == nil {
			all[target] = map[string]float64{}
		}
		all[target][label(name, "reason")] += value
	}
	return all
}

// awaitReady waits until perch says that it is.
func awaitReady(t *testing.T, address string) {
	t.Helper()
	await(t, "perch to be ready", func() error {
		resp, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		why, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d: %s", resp.StatusCode, why)
		}
		return nil
	})
}
