//go:build peers

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// leastContrast is what text has to its ground at least, of any size (WCAG 2.2, AA,
// wants less of large text).
const leastContrast = 4.5

// Prefers sets media features, such as prefers-color-scheme to dark.
func (p *Page) Prefers(features map[string]string) {
	p.t.Helper()
	var all []*emulation.MediaFeature
	for name, value := range features {
		all = append(all, &emulation.MediaFeature{Name: name, Value: value})
	}
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: all})
		return err
	}))
}

// Unfold opens every <details>, so that all of a page is looked at.
func (p *Page) Unfold() int {
	p.t.Helper()
	return Tells[int](p, `(() => { const all = document.querySelectorAll("details"); all.forEach(d => d.open = true); return all.length })()`)
}

// Faint are the texts that differ too little from what is behind them, by the colours
// that the browser computed. It fails where there is no text at all.
func (p *Page) Faint() []string {
	p.t.Helper()
	type text struct {
		Words string
		Ratio float64
	}
	all := Tells[[]text](p, contrastScript)
	if len(all) < 10 {
		p.t.Fatalf("only %d texts were looked at", len(all))
	}
	var faint []string
	for _, t := range all {
		if t.Ratio < leastContrast {
			faint = append(faint, fmt.Sprintf("%.2f: %s", t.Ratio, t.Words))
		}
	}
	return faint
}

const contrastScript = `(() => {
	const part = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 };
	const bright = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
	const colour = s => { const n = s.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n };
	const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const ground = e => {
		const layers = [];
		for (; e; e = e.parentElement) { const c = colour(getComputedStyle(e).backgroundColor); if (c[3] > 0) layers.push(c); if (c[3] === 1) break }
		return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]);
	};
	const out = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || !e.checkVisibility() || e.closest("option")) continue;
		const back = ground(e), ink = over(colour(getComputedStyle(e).color), back);
		const a = bright(ink), b = bright(back);
		out.push({Words: n.data.trim().slice(0, 60), Ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)});
	}
	return out;
})()`

// Wide are what sticks out of the page at a width, so that a reader would have to
// scroll sideways.
func (p *Page) Wide(width int64) []string {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, 844))
	return Tells[[]string](p, `(() => {
		const most = innerWidth, out = [];
		if (document.documentElement.scrollWidth > most) out.push("the page: " + document.documentElement.scrollWidth);
		for (const e of document.body.querySelectorAll("*")) {
			const box = e.getBoundingClientRect();
			if (box.width > 1 && box.right > most + 1 && !e.closest(".scroll, .unseen")) out.push(e.tagName + "." + (e.getAttribute("class") || "") + " to " + Math.round(box.right) + ": " + e.textContent.trim().slice(0, 40));
		}
		return out;
	})()`)
}

// Stop is where the keyboard's focus comes by.
type Stop struct {
	What  string // element and text
	Shown bool   // it is seen that the focus is there
}

// Unreadable is what of the page is hard to read, unfolded: text that is too faint, in
// light or in dark; what sticks out, from 320 px (a small phone, or a desktop's text at
// 400%) to a desktop's width; and what the browser complained of.
func (p *Page) Unreadable() (all []string) {
	p.Unfold()
	for _, scheme := range []string{"light", "dark"} {
		p.Prefers(map[string]string{"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"})
		for _, f := range p.Faint() {
			all = append(all, scheme+": faint: "+f)
		}
	}
	for _, width := range []int64{320, 390, 640, 1280} {
		for _, w := range p.Wide(width) {
			all = append(all, fmt.Sprintf("at %d px: %s", width, w))
		}
	}
	return append(all, p.Trouble()...)
}

// Stops presses Tab until the focus has been everywhere, and returns where.
func (p *Page) Stops() []Stop {
	p.t.Helper()
	const most = 1000
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); window.scrollTo(0, 0)`)(ctx, t)
		return err
	}))
	var stops []Stop
	for range most {
		p.do(chromedp.KeyEvent(kb.Tab))
		s := Tells[Stop](p, `(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			if (e === document.body) return {What: "", Shown: false};
			const drawn = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
			return {What: e.tagName.toLowerCase() + " " + (e.name || e.textContent.trim().slice(0, 60)), Shown: drawn && box.width > 0 && box.left >= 0};
		})()`)
		if s.What == "" || len(stops) > 1 && s.What == stops[0].What {
			return stops
		}
		stops = append(stops, s)
	}
	p.t.Fatalf("the focus has no end: %d stops", most)
	return nil
}

// Node is what a screen reader is told of one thing.
type Node struct{ Role, Name string }

// Tree is what a screen reader is told of the page, in its order.
func (p *Page) Tree() []Node {
	p.t.Helper()
	return ask(p, func(ctx context.Context, t *chromedp.Target) ([]Node, error) {
		r, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return nil, err
		}
		var all []Node
		for _, n := range r.Nodes {
			if !n.Ignored {
				all = append(all, Node{worded(n.Role), worded(n.Name)})
			}
		}
		return all, nil
	})
}

func worded(v *accessibility.Value) string {
	var s string
	if v == nil || json.Unmarshal([]byte(v.Value), &s) != nil {
		return "" // no text
	}
	return s
}

// Unnamed are the things that a reader can use, or goes by, and that have no name.
func Unnamed(tree []Node) []string {
	var out []string
	for _, n := range tree {
		if slices.Contains([]string{"link", "button", "textbox", "combobox", "navigation", "region", "search", "table", "columnheader", "rowheader", "heading", "DisclosureTriangle", "RootWebArea"}, n.Role) && n.Name == "" {
			out = append(out, n.Role)
		}
	}
	return out
}
