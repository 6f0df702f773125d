package slackpicture

import "strings"

// The widths of the letters from blank to tilde, in thousandths of their size,
// in DejaVu Sans: the widest of the fonts in which these pictures are seen. What
// fits in it fits in all.
const (
	regularWidths = "318,401,460,838,637,951,780,275,391,391,500,838,318,361,318,337,637,637,637,637,637,637,637,637,637,637,337,337,838,838,838,531,1000,685,687,699,771,632,576,775,752,295,295,656,558,863,749,788,604,788,695,635,611,732,685,989,686,611,686,391,337,391,838,500,500,613,635,550,635,616,353,635,634,278,278,580,278,975,634,612,635,635,412,521,393,634,592,818,592,592,525,637,337,637,838"
	boldWidths    = "349,457,521,838,696,1002,873,307,458,458,523,838,380,416,380,366,696,696,696,696,696,696,696,696,696,696,400,400,838,838,838,581,1000,774,763,734,831,684,684,821,837,373,373,775,638,996,837,851,733,851,771,721,683,813,774,1104,771,725,726,458,366,458,838,500,500,675,716,593,716,679,436,716,712,343,343,666,343,1042,712,688,716,716,494,596,479,712,652,924,646,652,583,712,366,712,838"
	otherWidth    = 1000 // of a letter that the tables do not have
	fixedWidth    = 603  // of every letter where all are equally wide
)

// widths measures texts, in pixels.
type widths struct{ regular, bold []int }

func newWidths() widths { return widths{regular: numbers(regularWidths), bold: numbers(boldWidths)} }

func numbers(list string) []int {
	var all []int
	for _, field := range strings.Split(list, ",") {
		n := 0
		for _, digit := range field {
			n = n*10 + int(digit-'0')
		}
		all = append(all, n)
	}
	return all
}

func (w widths) of(text string, s style) float64 {
	table := w.regular
	if s.bold {
		table = w.bold
	}
	sum := 0
	for _, letter := range text {
		at := int(letter) - ' '
		switch {
		case s.fixed:
			sum += fixedWidth
		case at >= 0 && at < len(table):
			sum += table[at]
		default:
			sum += otherWidth
		}
	}
	return float64(sum) * s.size / 1000
}
