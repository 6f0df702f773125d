package alert

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/slackfake"
)

// found is a notice with evidence of its own.
func found(k Kind, title, what string) Notice {
	n := tale("stock-api", k, title)
	n.Sections = section("What the application experiences", FormText, maxFact, []string{what})
	n.Trail = []Fact{{"run", "of " + what}}
	return n
}

// says fails unless the only root has the title and all the words, and none of
// the others.
func (d *desk) says(title string, words, others []string) {
	d.t.Helper()
	roots := d.roots()
	if len(roots) != 1 {
		d.t.Fatalf("%d roots, want 1", len(roots))
	}
	text := string(roots[0].Blocks)
	if roots[0].Title() != title {
		d.t.Errorf("the root's title is %q, want %q", roots[0].Title(), title)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			d.t.Errorf("the root of %q lacks %q: %s", title, word, text)
		}
	}
	for _, word := range others {
		if strings.Contains(text, word) {
			d.t.Errorf("the root of %q still says %q: %s", title, word, text)
		}
	}
}

// TestRootIsTheWholeNotice: the message alone must be enough.
func TestRootIsTheWholeNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		_, told := decideAll(options, incident(), incident())
		n := told[1][0]
		n.Channel, n.Charts = "", Charts{}
		d.adds(n)
		d.told(0)
		want, err := json.Marshal(Blocks(n))
		if err != nil {
			t.Fatal(err)
		}
		if all := d.fake.Messages(); len(all) != 1 || string(all[0].Blocks) != string(want) {
			t.Errorf("%d messages, the first is %s; want one: %s", len(all), all[0].Blocks, want)
		}
	})
}

// TestRootKeepsItsEvidence: the title and the state follow what holds now, and
// what was found stays until more is known.
func TestRootKeepsItsEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		first, later := []string{"a reset", "run of a reset"}, []string{"an early close", "run of an early close"}
		d.adds(found(KindFiring, "FIRING stock-api", "a reset"))
		d.told(0)
		d.says("FIRING stock-api", first, []string{"State"})

		time.Sleep(5 * time.Minute)
		d.adds(found(KindReminder, "STILL FIRING stock-api", "as before"))
		d.told(0)
		d.says("STILL FIRING stock-api", append(first, "as of 2000-01-01 00:05 UTC", "what was told at 2000-01-01 00:00 UTC"), []string{"as before"})

		d.adds(found(KindSharper, "CHANGED stock-api: early close", "an early close"))
		d.told(0)
		d.says("FIRING stock-api: early close", later, append(first, "Below"))

		time.Sleep(5 * time.Minute)
		d.adds(found(KindResolved, "RESOLVED stock-api", "the proof"))
		d.told(0)
		d.says("RESOLVED stock-api", append(later, "Over since 2026-03-02 13:00 UTC", "the retry list misses it", "The thread has what followed"), append(first, "the proof"))
		if replies := len(d.fake.Messages()) - 1; replies != 3 {
			t.Errorf("%d replies, want 3", replies)
		}
	})
}

// TestRootOfTheMemoryBefore: its evidence is not known; then what was told last
// is shown.
func TestRootOfTheMemoryBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(found(KindFiring, "FIRING", "a reset"))
		d.told(0)
		for key, at := range d.m.Threads {
			d.m.Threads[key] = Thread{Channel: at.Channel, Root: at.Root}
		}
		d.adds(found(KindReminder, "STILL FIRING", "as before"))
		d.told(0)
		d.says("STILL FIRING", []string{"as before", "Open since"}, []string{"a reset", "Below"})
		d.adds(found(KindResolved, "RESOLVED", "the proof"))
		d.told(0)
		d.says("RESOLVED", []string{"the proof", "Over since"}, []string{"as before", "Below"})
	})
}

// TestWhyHereStays: an edit does not hide why the message is in this channel.
func TestWhyHereStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for _, n := range []Notice{
			found(KindFiring, "FIRING", "a reset"), found(KindReminder, "STILL FIRING", ""), found(KindResolved, "RESOLVED", ""),
		} {
			n.Channel = "#closed"
			d.adds(n)
			d.run()
			d.says(n.Title, []string{"a reset", "Why this is here", "#closed (not_in_channel)"}, nil)
		}
	})
}

// TestWhyHereEnds where the thread moves to the channel where it belongs.
func TestWhyHereEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for _, n := range []Notice{found(KindFiring, "FIRING", "a reset"), found(KindReminder, "STILL FIRING", "as before"), found(KindResolved, "RESOLVED", "the proof")} {
			n.Channel = "#closed"
			d.adds(n)
			d.told(map[Kind]int{KindFiring: 1, KindReminder: 1}[n.Kind])
			d.fake.Change(func(c *slackfake.Config) { c.Channels[0].Archived, c.Channels[2].Member = true, true })
		}
		roots := d.roots()
		if len(roots) != 2 || roots[1].Channel != closedID || strings.Contains(string(roots[1].Blocks), "Why this is here") || !strings.Contains(string(roots[1].Blocks), "a reset") {
			t.Errorf("roots %+v, want the second in its own channel, with the evidence", roots)
		}
	})
}

// TestANewRootHasTheEvidence of the one that was deleted.
func TestANewRootHasTheEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(found(KindFiring, "FIRING", "a reset"))
		d.told(0)
		d.fake.Fail("chat.update", 1, slackfake.Refuse("message_not_found"))
		d.adds(found(KindReminder, "STILL FIRING", "as before"))
		d.told(1)
		d.adds(found(KindResolved, "RESOLVED", "the proof"))
		d.told(0)
		roots := d.roots()
		if len(roots) != 2 || roots[1].Title() != "RESOLVED" || !strings.Contains(string(roots[1].Blocks), "a reset") || strings.Contains(string(roots[1].Blocks), "the proof") {
			t.Errorf("roots %+v, want a second one with the evidence", roots)
		}
	})
}

// TestRootWhoseEvidenceIsHuge: what is said above it takes no section away.
func TestRootWhoseEvidenceIsHuge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		n := found(KindFiring, "FIRING", "")
		n.Channel, n.Sections = "#closed", nil
		headings := []string{"Why this is here", "State"}
		for _, heading := range []string{"one", "two", "three", "four"} {
			n.Sections = slices.Concat(n.Sections, section("Section "+heading, FormText, 3000, slices.Repeat([]string{strings.Repeat("日本語 & ", 40)}, 6)))
			headings = append(headings, "Section "+heading)
		}
		d.adds(n)
		d.told(1)
		end := found(KindResolved, "RESOLVED", "")
		d.adds(end)
		d.told(0)
		d.says("RESOLVED", append(headings, "(more in the report)", "run of "), nil)
	})
}
