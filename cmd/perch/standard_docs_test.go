package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
)

const standardDoc = "../../docs/standard.md"

// TestStandardLimits: the standard's longest idle times are those that perch
// advises.
func TestStandardLimits(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^ *\| measured \|(.*)\|\n.*\n *\| max idle \|(.*)\|$`).FindStringSubmatch(read(t, standardDoc))
	if m == nil {
		t.Fatal("no table of longest idle times")
	}
	measured, limits := strings.Split(m[1], "|"), strings.Split(m[2], "|")
	if len(measured) != len(limits) || len(measured) < 4 {
		t.Fatalf("%d measured, %d limits", len(measured), len(limits))
	}
	for i := range measured {
		path := clients.Path{Timeout: written(t, measured[i])}
		if got, want := written(t, limits[i]), path.Safe(); got != want {
			t.Errorf("measured %s: the standard says %s, perch advises %s", path.Timeout, got, want)
		}
	}
}

func written(t *testing.T, cell string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(strings.ReplaceAll(cell, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestStandardListIsWhole: a retry list of what the standard has a GET retried
// for is all that perch audit asks for.
func TestStandardListIsWhole(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, standardDoc), "| failure | inside the wrapper | GET, PUT | POST, PATCH |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var list []string
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 6 || strings.TrimSpace(cells[3]) != "retry" {
			continue
		}
		list = append(list, regexp.MustCompile(`\b[A-Z][A-Za-z]+Exception\b|\b[45]\d\d\b`).FindAllString(cells[1]+cells[2], -1)...)
	}
	if len(list) < 10 {
		t.Fatalf("the standard's list is %v", list)
	}
	for _, kind := range []string{"apache-httpclient-4.5", "apache-httpclient-5.2"} {
		path := configFile(t, "", fmt.Sprintf(`version: 1
name: shop
targets:
  - name: stock-api
    url: https://api.partner.example
    client:
      kind: %s
      wrapped_by: spring-resttemplate
      automatic_retries: none
      retry: {layer: inside, attempts: 3, errors: [%s]}
    probes: [{name: calendar, kind: http, path: /calendar}]
`, kind, strings.Join(list, ", ")))
		r := perch(t.Context(), nil, "audit", "--config", path)
		if r.code != exitOK || !strings.Contains(r.stdout, "COVERED") || strings.Contains(r.stdout, "Add to the retry list") {
			t.Errorf("%s: exit status %d with the standard's list\n%s%s", kind, r.code, r.stdout, r.stderr)
		}
	}
}

// TestStandardIsOnePage: set in 9.5 points, a page of A4 has some 58 lines of 115
// characters; a blank line is set as a third of one.
func TestStandardIsOnePage(t *testing.T) {
	t.Parallel()
	const wide, high = 115, 58
	lines := 0.0
	for block := range strings.SplitSeq(read(t, standardDoc), "\n\n") {
		lines += 1.0 / 3
		paragraph := ""
		for line := range strings.Lines(block) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "|---"):
			case strings.HasPrefix(line, "|"):
				lines += float64(1 + len(line)/wide)
			case regexp.MustCompile(`^\d+\. `).MatchString(line):
				lines += float64((len(paragraph) + wide - 1) / wide)
				paragraph = line
			default:
				paragraph += " " + line
			}
		}
		lines += float64((len(paragraph) + wide - 1) / wide)
	}
	if lines > high || lines < high/2 {
		t.Errorf("the standard has %.0f lines of %d characters, a page has %d", lines, wide, high)
	}
}
