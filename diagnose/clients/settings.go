package clients

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// Setting writes a setting's template with a duration, as the client's
// language does. {whole} stands for whole seconds, rounded down: where that
// would be none, the setting cannot express d and the answer is empty. So it is
// for less than a millisecond: many clients take 0 for "for ever".
func Setting(template string, d time.Duration) string {
	if d < time.Millisecond || d < time.Second && strings.Contains(template, "{whole}") {
		return ""
	}
	return strings.NewReplacer(
		"{ms}", fmt.Sprint(d.Milliseconds()),
		"{s}", seconds(d),
		"{go}", goDuration(d),
		"{whole}", fmt.Sprint(int(d/time.Second)),
	).Replace(template)
}

// SafeSetting returns the setting, in the client's own syntax, that keeps the
// declared client out of its danger band on the path: the shorter idle limit
// where the client has one, else the earlier look; on a path that ends in
// silence, where looking sees nothing, TCP keep-alive. Empty: it has no band
// there, is not known, or no setting of its own can say it.
func SafeSetting(decl probes.Client, path Path) string {
	client, known := Lookup(decl.Kind)
	safe := path.Safe()
	if !known || safe <= 0 || BandOn(decl, path) == nil {
		return ""
	}
	stops, looks, awake := decl, decl, decl
	limit := client.Idle.Settable(safe)
	stops.MaxIdle, looks.ValidateAfter, awake.TCPKeepAlive = after(limit), after(safe), safe
	for _, way := range []struct {
		changed  probes.Client
		template string
		value    time.Duration
	}{
		{stops, client.Settings.MaxIdle, limit}, {looks, client.Settings.Validate, safe}, {awake, client.Settings.TCPKeepAlive, safe},
	} {
		if way.value <= 0 || BandOn(way.changed, path) != nil {
			continue
		}
		if code := Setting(way.template, way.value); code != "" {
			return code
		}
	}
	return ""
}

// seconds writes seconds with no more digits than they have: rounding up would
// lift a limit over what is safe.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

func goDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d * time.Second", d/time.Second)
	}
	return fmt.Sprintf("%d * time.Millisecond", d/time.Millisecond)
}
