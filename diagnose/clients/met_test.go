package clients

import (
	"testing"
	"time"

	"perch.example/probes"
)

func metBy(t *testing.T, kind string, path Path) probes.ClientOutcome {
	t.Helper()
	for _, o := range Met(path, "api.example") {
		if o.Kind == kind {
			return o
		}
	}
	t.Fatalf("nothing about %s", kind)
	return probes.ClientOutcome{}
}

// TestEqualTimeoutsAreNotSafe: a client that never uses a closed connection can
// still lose the race against the close, unless it drops connections before.
func TestEqualTimeoutsAreNotSafe(t *testing.T) {
	t.Parallel()
	const ms, s = time.Millisecond, time.Second
	five := Path{Timeout: 5001 * ms, Margin: 300 * time.Microsecond, End: probes.ReasonIdleFIN}
	second := Path{Timeout: 1001 * ms, Margin: 300 * time.Microsecond, End: probes.ReasonIdleFIN}
	silent := Path{Timeout: 6 * time.Minute, Silent: true, Unseen: true, Survived: 2 * time.Minute, End: probes.ReasonBlackhole}
	for _, tt := range []struct {
		name, kind string
		path       Path
		race, safe bool
	}{
		{"its limit is the path's timeout", "httpx", five, true, true},
		{"it has a longer limit, and looks", "go-net-http", five, true, true},
		{"its limit is shorter than what is safe", "node-fetch", five, false, false},
		{"its setting speaks of whole seconds", "dotnet-httpclient", second, true, false},
		{"it drops in time what nobody sees die", "jdk-httpclient", silent, false, false},
	} {
		o := metBy(t, tt.kind, tt.path)
		if o.Band != nil || (o.KeepBelow > 0) != tt.race || (o.Safe != "") != tt.safe {
			t.Errorf("%s: %s has the band %v, keep below %s, safe %q; want no band, a race: %t, a setting: %t", tt.name, tt.kind, o.Band, o.KeepBelow, o.Safe, tt.race, tt.safe)
		}
		if o.KeepBelow >= tt.path.Timeout || o.KeepBelow != 0 && o.KeepBelow < s/2 {
			t.Errorf("%s: keep below %s on a path that closes after %s", tt.name, o.KeepBelow, tt.path.Timeout)
		}
	}
}

// TestTheLimitThatIsNamedEndsTheRace, for every client of the catalog on paths
// of many timeouts; and no client has both a band and a race.
func TestTheLimitThatIsNamedEndsTheRace(t *testing.T) {
	t.Parallel()
	named := 0
	for timeout := 300 * time.Millisecond; timeout < 10*time.Minute; timeout = timeout * 7 / 5 {
		path := Path{Timeout: timeout, Margin: time.Millisecond, End: probes.ReasonIdleFIN}
		for _, o := range Met(path, "api.example") {
			if o.KeepBelow == 0 {
				continue
			}
			named++
			if o.Band != nil {
				t.Errorf("%s on %s: a band and a race", o.Kind, timeout)
			}
			limited := probes.Client{Kind: o.Kind, MaxIdle: after(o.KeepBelow)}
			if below, _ := races(limited, path); o.Safe != "" && below != 0 {
				t.Errorf("%s on %s: with a limit of %s there is still a race, below %s", o.Kind, timeout, o.KeepBelow, below)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d races: the test sees too few", named)
	}
}
