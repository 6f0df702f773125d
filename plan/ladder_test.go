package plan

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

func seconds(s ...float64) []time.Duration {
	var all []time.Duration
	for _, x := range s {
		all = append(all, time.Duration(x*float64(time.Second)))
	}
	return all
}

func limits(maxIdle, validateAfter time.Duration) *probes.Client {
	return &probes.Client{
		Kind:          "apache-httpclient-4.5",
		MaxIdle:       probes.Limit{Mode: probes.LimitAfter, After: maxIdle},
		ValidateAfter: probes.Limit{Mode: probes.LimitAfter, After: validateAfter},
	}
}

func TestLadder(t *testing.T) {
	tests := []struct {
		name string
		spec probes.Spec
		want []time.Duration
	}{
		{"contract.md's example", probes.Spec{KeepAlive: time.Minute}, seconds(30, 59, 61, 120)},
		{"the least tolerance", probes.Spec{KeepAlive: time.Second}, seconds(0.5, 0.9, 1.1, 2)},
		{"5% of keep_alive", probes.Spec{KeepAlive: 10 * time.Second}, seconds(5, 9.5, 10.5, 20)},
		{
			"the incident: the client looks only after 2 s, which is its default",
			probes.Spec{KeepAlive: time.Second, Client: &probes.Client{Kind: "apache-httpclient-4.5"}},
			seconds(0.5, 0.9, 1.1, 1.9, 2),
		},
		{"a limit below keep_alive", probes.Spec{KeepAlive: time.Minute, Client: limits(2*time.Minute, 10*time.Second)}, seconds(10, 30, 59, 61, 119, 120)},
		{"a limit close to a rung that is needed", probes.Spec{KeepAlive: time.Minute, Client: limits(58900*time.Millisecond, time.Hour)}, seconds(30, 59, 61, 120)},
		{"a limit within the tolerance", probes.Spec{KeepAlive: time.Minute, Client: limits(time.Minute, time.Hour)}, seconds(30, 59, 60, 61, 120)},
		{"a client of unknown kind", probes.Spec{KeepAlive: time.Minute, Client: &probes.Client{Kind: "curl"}}, seconds(30, 59, 61, 120)},
		{"no keep_alive", probes.Spec{}, seconds(4, 10, 25, 45, 70, 100, 150, 210, 270, 355)},
		{"no keep_alive, with limits", probes.Spec{Client: limits(30*time.Second, 2*time.Second)}, seconds(2, 4, 10, 25, 30, 45, 70, 100, 150, 210, 270, 355)},
		{"too long for every", probes.Spec{KeepAlive: time.Minute, Every: 2 * time.Minute}, seconds(30, 59, 61)},
		{"the default, too long for every", probes.Spec{Every: 5 * time.Minute}, seconds(4, 10, 25, 45, 70, 100, 150, 210, 270)},
		{"what is needed stays", probes.Spec{KeepAlive: time.Minute, Every: time.Minute}, seconds(30, 59, 61)},
		{"never nothing", probes.Spec{Every: time.Second}, seconds(4)},
	}
	for _, test := range tests {
		if got := Ladder(test.spec); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestApart(t *testing.T) {
	tests := []struct {
		keepAlive time.Duration
		holds     []time.Duration
		want      time.Duration
	}{
		{time.Minute, seconds(30, 120), 5 * time.Second},
		{10 * time.Second, seconds(5, 20), time.Second},
		{0, seconds(120, 2), 200 * time.Millisecond},
		{0, seconds(120, 60), 5 * time.Second},
	}
	for _, test := range tests {
		if got := apart(&probes.Spec{KeepAlive: test.keepAlive}, test.holds); got != test.want {
			t.Errorf("keep_alive %v, holds %v: %v apart, want %v", test.keepAlive, test.holds, got, test.want)
		}
	}
}
