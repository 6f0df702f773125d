package alert

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"perch.example/internal/slackfake"
)

// TestEditRefused: the reply is the truth, and that is said; once an incident,
// where it is for good.
func TestEditRefused(t *testing.T) {
	for code, forGood := range map[string]bool{
		"edit_window_closed": true, "cant_update_message": true, "is_inactive": false, "update_failed": false, "an_unknown_word": false,
	} {
		t.Run(code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.adds(tale("stock-api", KindFiring, "FIRING"))
				d.told(0)
				d.fake.Fail("chat.update", 1, slackfake.Refuse(code))
				d.adds(tale("stock-api", KindReminder, "STILL FIRING"))
				d.told(1)
				d.adds(tale("stock-api", KindResolved, "RESOLVED"))
				d.told(0)
				want := []string{"posted FIRING", "replied STILL FIRING", "replied RESOLVED"}
				if !forGood {
					want = append(want, "edited RESOLVED")
				}
				d.expects(want...)
			})
		})
	}
}

// TestRootDeleted: what is still open must be seen, so that there is a new root.
func TestRootDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(tale("stock-api", KindFiring, "FIRING"))
		d.told(0)
		life := []string{"posted FIRING"}
		d.fake.Fail("chat.update", 1, slackfake.Refuse("message_not_found")) // Slack keeps the thread of a root that is gone
		d.adds(tale("stock-api", KindReminder, "STILL FIRING"))
		d.told(1)
		life = append(life, "replied STILL FIRING", "posted STILL FIRING")
		d.expects(life...)
		d.adds(tale("stock-api", KindResolved, "RESOLVED"))
		d.told(0)
		d.expects(append(life, "replied RESOLVED", "edited RESOLVED")...)
	})
}

// TestRootDeletedAtTheEnd: what is over needs no new root.
func TestRootDeletedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(tale("stock-api", KindFiring, "FIRING"))
		d.told(0)
		d.fake.Fail("chat.update", 1, slackfake.Refuse("message_not_found"))
		d.adds(tale("stock-api", KindResolved, "RESOLVED"))
		d.told(1)
		d.expects("posted FIRING", "replied RESOLVED")
	})
}

// TestNewRootWithoutAClearAnswer: a second root, too, says that it may be a repeat.
func TestNewRootWithoutAClearAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(tale("stock-api", KindFiring, "FIRING"))
		d.told(0)
		d.fake.Fail("chat.update", 2, slackfake.Refuse("message_not_found"))
		d.fake.Fail("chat.postMessage", 1, slackfake.Fault{}) // the reply
		d.fake.Fail("chat.postMessage", 1, slackfake.Status(500).Accepted())
		d.adds(tale("stock-api", KindReminder, "STILL FIRING"))
		if got := d.run(); got.Ambiguous != 1 || got.Untold != 1 {
			t.Errorf("delivered %+v, want one ambiguous", got)
		}
		d.told(1)
		d.expects("posted FIRING", "replied STILL FIRING", "posted STILL FIRING", "posted STILL FIRING")
		if roots := d.roots(); !strings.Contains(string(roots[2].Blocks), "may be a repeat") || strings.Contains(string(roots[1].Blocks), "may be a repeat") {
			t.Errorf("the roots say %s and %s", roots[1].Blocks, roots[2].Blocks)
		}
	})
}

// TestThreadGone: Slack posts a reply to nothing as a message of its own, and
// that is then the root.
func TestThreadGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(tale("stock-api", KindFiring, "FIRING"))
		d.told(0)
		d.fake.Delete(alertsID, d.roots()[0].TS)
		d.adds(tale("stock-api", KindReminder, "STILL FIRING"))
		d.told(0)
		d.adds(tale("stock-api", KindResolved, "RESOLVED"))
		d.told(0)
		want := []string{"posted FIRING", "posted STILL FIRING", "replied RESOLVED", "edited RESOLVED"}
		if got := d.events(); !slices.Equal(got, want) {
			t.Errorf("Slack accepted %q, want %q", got, want)
		}
	})
}

// TestChannelRefused: the alert goes to the default channel and says why; only
// where that is refused, too, it waits, and nobody else with it.
func TestChannelRefused(t *testing.T) {
	for channel, word := range map[string]string{"#closed": "not_in_channel", "#archive": "is_archived", "#nowhere": "channel_not_found"} {
		t.Run(word, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				n := tale("stock-api", KindFiring, "FIRING")
				n.Channel = channel
				d.adds(n)
				d.told(1)
				root := d.roots()[0]
				if root.Channel != alertsID || !strings.Contains(string(root.Blocks), "Why this is here") || !strings.Contains(string(root.Blocks), word) {
					t.Errorf("in %s stands %s, want it in the default channel with the reason", root.Channel, root.Blocks)
				}
				d.adds(tale("stock-api", KindResolved, "RESOLVED"))
				d.told(0)

				d.fake.Change(func(c *slackfake.Config) { c.Channels[0].Archived = true })
				other := tale("price-api", KindFiring, "FIRING other")
				other.Channel = "#stock"
				d.adds(n, other)
				got := d.run()
				if got.Told != 1 || got.Untold != 1 || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Error(), "archived") || d.m.Outbox[0].Ways[0].PossibleRepeat {
					t.Errorf("delivered %+v, want the one told whose channel is there", got)
				}
			})
		})
	}
}

// TestChannelArchivedLater: the thread goes on where the app can post.
func TestChannelArchivedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		n := tale("stock-api", KindFiring, "FIRING")
		n.Channel = "#stock"
		d.adds(n)
		d.told(0)
		d.fake.Change(func(c *slackfake.Config) { c.Channels[1].Archived = true })
		end := tale("stock-api", KindResolved, "RESOLVED")
		end.Channel = "#stock"
		d.adds(end)
		d.told(1)
		if roots := d.roots(); len(roots) != 2 || roots[1].Channel != alertsID || roots[1].Title() != "RESOLVED" {
			t.Errorf("roots %+v, want the end in the default channel", roots)
		}
	})
}

// TestRefusedBlocksArePlain: Slack's rules may change; the alert gets through.
func TestRefusedBlocksArePlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.fake.Change(func(c *slackfake.Config) { c.BlockBytes = 1 })
		d.adds(tale("stock-api", KindFiring, "FIRING"))
		d.told(0)
		d.adds(tale("stock-api", KindResolved, "RESOLVED"))
		d.told(0)
		root := d.roots()[0]
		if len(d.fake.Messages()) != 2 || root.Blocks != nil || !strings.Contains(root.Text, "RESOLVED") || !strings.Contains(root.Text, "&lt;NoHttp") {
			t.Errorf("%d messages, root %s %s; want plain text", len(d.fake.Messages()), root.Blocks, root.Text)
		}
	})
}

// TestPicturesAreBestEffort: one that fails holds up nothing and repeats nothing.
func TestPicturesAreBestEffort(t *testing.T) {
	tests := map[string]func(*slackfake.Fake){
		"no scope": func(f *slackfake.Fake) { f.Change(func(c *slackfake.Config) { c.Scopes = []string{"chat:write"} }) },
		"no address": func(f *slackfake.Fake) {
			f.Fail("files.getUploadURLExternal", 1, slackfake.Refuse("file_uploads_disabled"))
		},
		"the bytes":           func(f *slackfake.Fake) { f.Fail(slackfake.MethodUpload, 1, slackfake.Status(500)) },
		"the bytes, too long": func(f *slackfake.Fake) { f.Fail(slackfake.MethodUpload, 1, slackfake.Hang()) },
		"the end":             func(f *slackfake.Fake) { f.Fail("files.completeUploadExternal", 1, slackfake.Cut()) },
		"for a long time":     func(f *slackfake.Fake) { f.Fail("files.completeUploadExternal", 1, slackfake.RateLimited("300")) },
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				prepare(d.fake)
				d.adds(charted(tale("stock-api", KindFiring, "FIRING")))
				got := d.run()
				if got.Told != 1 || len(got.Errors) != 0 || len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Error(), "the notice itself was delivered") {
					t.Errorf("delivered %+v, want it told, and one problem", got)
				}
				d.told(0)
				d.expects("posted FIRING")
			})
		})
	}
}

// TestAccessRefused: with a token that is refused nothing is tried in vain.
func TestAccessRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.fake.Change(func(c *slackfake.Config) { c.Scopes = []string{"files:write"} })
		d.adds(tale("stock-api", KindFiring, "FIRING"), tale("price-api", KindFiring, "FIRING other"))
		got := d.run()
		if len(d.fake.Calls()) != 1 || got.Untold != 2 || got.Ambiguous != 0 || len(got.Errors) != 1 {
			t.Fatalf("%d calls, delivered %+v; want one, and both untold", len(d.fake.Calls()), got)
		}
		var failure *SendError
		if says := got.Errors[0].Error(); !errors.As(got.Errors[0], &failure) || !strings.Contains(says, "needed: chat:write") || !strings.Contains(says, "has: files:write") {
			t.Errorf("it says %q, want the scopes", says)
		}
	})
}
