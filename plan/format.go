package plan

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"perch.example/probes"
)

// short writes a duration without the zeros that Go adds: 2m, not 2m0s.
// Fractions beyond milliseconds are rounded.
func short(d time.Duration) string {
	return probes.Spoken(d.Round(time.Millisecond))
}

func roundUp(d, unit time.Duration) time.Duration {
	return (d + unit - 1) / unit * unit
}

// number writes at most four significant digits: 0.25, 20, 6.667.
func number(f float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64) // what FormatFloat wrote parses
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func percent(f float64) string { return number(f*100) + "%" }

// table is a table for people. Columns of numbers stand to the right.
type table struct {
	right []bool // by column; a column beyond it stands to the left
	rows  [][]string
}

func (g *table) row(cells ...string) { g.rows = append(g.rows, cells) }

// write prints the rows, aligned, two spaces between columns.
func (g *table) write(w io.Writer) {
	var widths []int
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range g.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < len(g.right) && g.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
