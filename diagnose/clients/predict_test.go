package clients

import (
	"testing"
	"time"

	"perch.example/probes"
)

const ms = time.Millisecond

// bursts are calls of 10 ms: n at once, so many times, with a gap from one to the next.
func bursts(n, times int, gap time.Duration) []Call {
	var calls []Call
	for b := range times {
		for range n {
			calls = append(calls, Call{At: time.Duration(b) * (gap + 10*ms), Took: 10 * ms})
		}
	}
	return calls
}

// paced are calls of 10 ms, one every so often.
func paced(n int, every time.Duration) []Call {
	var calls []Call
	for i := range n {
		calls = append(calls, Call{At: time.Duration(i) * every, Took: 10 * ms})
	}
	return calls
}

func apache(change func(*probes.Client)) probes.Client {
	decl := probes.Client{Kind: "apache-httpclient-4.5", AutomaticRetries: probes.SwitchNone}
	if change != nil {
		change(&decl)
	}
	return decl
}

func closesAfter(d time.Duration) Path {
	return Path{Timeout: d, End: probes.ReasonIdleFIN}
}

// sum is what a test expects of a prediction.
type sum struct{ fresh, dead, failed, gaps, inBand int }

func sumOf(p probes.Prediction) sum { return sum{p.Fresh, p.Dead, p.Failed, p.Gaps, p.InBand} }

// TestPredict: worked out by hand for pools on a path that closes after 1 s.
func TestPredict(t *testing.T) {
	second := closesAfter(time.Second)
	policy := func(attempts int) func(*probes.Client) {
		return func(c *probes.Client) {
			c.Retry = &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: attempts, Errors: []string{"org.apache.http.NoHttpResponseException"}}
		}
	}
	for _, tt := range []struct {
		name  string
		decl  probes.Client
		order probes.PoolOrder
		size  int
		path  Path
		calls []Call
		want  sum
	}{
		{"short gaps are alive", apache(nil), "", 20, second, bursts(20, 3, 500*ms), sum{fresh: 20, gaps: 40}},
		{"in the band all of them die", apache(nil), "", 20, second, bursts(20, 3, 1500*ms), sum{40, 20, 20, 20, 20}}, // the third burst is fresh again
		{"it looks from 2 s on", apache(nil), "", 20, second, bursts(20, 3, 3*time.Second), sum{fresh: 60, gaps: 2}},
		{"it never looks", apache(func(c *probes.Client) { c.ValidateAfter = none() }), "", 20, second, bursts(20, 3, 3*time.Second), sum{40, 20, 20, 20, 20}},
		{"its own limit drops them", apache(func(c *probes.Client) { c.MaxIdle = after(900 * ms) }), "", 20, second, bursts(20, 2, 1500*ms), sum{fresh: 40, gaps: 1}},
		{"half of the pool is used", apache(nil), "", 20, second, append(bursts(20, 1, 0), Call{At: 1510 * ms, Took: 10 * ms}), sum{20, 1, 1, 1, 1}},
		{"three retries meet four", apache(func(c *probes.Client) { c.AutomaticRetries = probes.SwitchDefault }), "", 20, second, bursts(20, 2, 1500*ms), sum{fresh: 35, dead: 5, failed: 5, gaps: 5, inBand: 5}},
		{"and find the end of four", apache(func(c *probes.Client) { c.AutomaticRetries = probes.SwitchDefault }), "", 4, second, bursts(4, 2, 1500*ms), sum{fresh: 7, dead: 1, failed: 1, gaps: 1, inBand: 1}},
		{"or of three", apache(func(c *probes.Client) { c.AutomaticRetries = probes.SwitchDefault }), "", 3, second, bursts(3, 2, 1500*ms), sum{fresh: 6, dead: 1, gaps: 1, inBand: 1}},
		{"a policy tries again", apache(policy(2)), "", 2, second, bursts(2, 2, 1500*ms), sum{fresh: 3, dead: 1, failed: 1, gaps: 1, inBand: 1}},
		{"until nothing is dead", apache(policy(3)), "", 2, second, bursts(2, 2, 1500*ms), sum{fresh: 4, dead: 1, gaps: 1, inBand: 1}},
		{"a client that sees it", probes.Client{Kind: "go-net-http"}, "", 20, second, bursts(20, 2, 1500*ms), sum{fresh: 40, gaps: 1}},
		{"one that renews", probes.Client{Kind: "httpurlconnection"}, "", 20, second, bursts(20, 2, 1500*ms), sum{fresh: 40, dead: 20, gaps: 20, inBand: 20}},
		{"one that goes on until it has a new one", probes.Client{Kind: "okhttp"}, "", 20, second, bursts(20, 2, 1500*ms), sum{fresh: 40, dead: 1, gaps: 1, inBand: 1}},
		// A burst of 4, then one call every 200 ms: the last one used stays warm, the others age unseen until the next burst.
		{"LIFO keeps one warm", apache(nil), probes.PoolLIFO, 4, second, then(bursts(4, 1, 0), paced(5, 200*ms), bursts(4, 1, 0)), sum{4, 3, 3, 9, 3}},
		{"FIFO keeps all warm", apache(nil), probes.PoolFIFO, 4, second, then(bursts(4, 1, 0), paced(5, 200*ms), bursts(4, 1, 0)), sum{fresh: 4, gaps: 9}},
		{"the oldest is one warm", apache(nil), probes.PoolOldest, 4, second, then(bursts(4, 1, 0), paced(5, 200*ms), bursts(4, 1, 0)), sum{4, 3, 3, 9, 3}},
		{"who waits has no gap", apache(nil), "", 2, second, bursts(4, 1, 0), sum{fresh: 2, gaps: 2}},
		{"no limit of the pool", apache(nil), "", 0, second, bursts(50, 1, 0), sum{fresh: 50}},
		{"silence is not looked at", apache(nil), "", 2, Path{Timeout: time.Second, End: probes.ReasonBlackhole, Silent: true}, bursts(2, 2, 3*time.Second), sum{2, 2, 2, 2, 2}},
		{"TCP keep-alive keeps it", apache(func(c *probes.Client) { c.TCPKeepAlive = 500 * ms }), "", 2, Path{Timeout: time.Second, End: probes.ReasonBlackhole, Silent: true}, bursts(2, 2, 3*time.Second), sum{fresh: 2, gaps: 2}},
		{"any order of the calls", apache(nil), "", 1, second, []Call{{At: 1510 * ms, Took: 10 * ms}, {Took: 10 * ms}}, sum{1, 1, 1, 1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Predict(tt.calls, Pool{Client: tt.decl, Connections: tt.size, Order: tt.order}, tt.path)
			if !ok || sumOf(got) != tt.want || got.Calls != len(tt.calls) {
				t.Errorf("%+v, want %+v (%t)", sumOf(got), tt.want, ok)
			}
		})
	}
}

// TestPredictAFullPool: calls that hardly overlap, in a pool that other ones have filled.
func TestPredictAFullPool(t *testing.T) {
	calls := then(paced(4, 50*ms), paced(1, 0))
	calls[4].At += 1200 * ms
	for filled, want := range map[int]sum{5: {fresh: 4, dead: 1, failed: 1, gaps: 1, inBand: 1}, 0: {fresh: 1, dead: 1, failed: 1, gaps: 4, inBand: 1}} {
		if got, ok := Predict(calls, Pool{Client: apache(nil), Connections: 4, Filled: filled}, closesAfter(time.Second)); !ok || sumOf(got) != want {
			t.Errorf("filled each %d calls: %+v, want %+v", filled, sumOf(got), want)
		}
	}
}

// TestPredictAPoolFilledAgain: calls as they come again and again find what those before have left.
func TestPredictAPoolFilledAgain(t *testing.T) {
	never := apache(func(c *probes.Client) { c.ValidateAfter = none() })
	for _, tt := range []struct {
		name  string
		size  int
		every time.Duration
		want  sum
	}{
		{"all are there: none is opened", 4, 600 * ms, sum{fresh: 4, gaps: 26}},
		{"all have died: the first calls draw them", 4, 3 * time.Second, sum{fresh: 4 + 1 + 3, dead: 4 + 1, failed: 4 + 1, gaps: 6 + 9 + 7, inBand: 4 + 1}},
		{"without a limit nothing is filled", 0, 3 * time.Second, sum{fresh: 3, dead: 2, failed: 2, gaps: 27, inBand: 2}},
	} {
		var calls []Call
		for r := range 3 {
			for _, c := range paced(10, 40*ms) {
				calls = append(calls, Call{At: time.Duration(r)*tt.every + c.At, Took: c.Took})
			}
		}
		if got, ok := Predict(calls, Pool{Client: never, Connections: tt.size, Filled: 10}, closesAfter(time.Second)); !ok || sumOf(got) != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, sumOf(got), tt.want)
		}
	}
}

// then puts rows of calls one after the other, 300 ms apart.
func then(rows ...[]Call) []Call {
	var all []Call
	at := time.Duration(0)
	for _, row := range rows {
		last := at
		for _, c := range row {
			c.At += at
			last = c.At
			all = append(all, c)
		}
		at = last + 300*ms
	}
	return all
}

// TestNothingToPredict: where nothing can be said, nothing is.
func TestNothingToPredict(t *testing.T) {
	calls := paced(3, time.Second)
	for name, p := range map[string]struct {
		calls []Call
		kind  string
		path  Path
	}{
		"no timeout": {calls, "okhttp", Path{}}, "no such client": {calls, "netscape", closesAfter(1)}, "no calls": {nil, "okhttp", closesAfter(1)},
		"HTTP/2": {calls, "okhttp", Path{Timeout: 1, HTTP2: true}},
	} {
		if got, ok := Predict(p.calls, Pool{Client: probes.Client{Kind: p.kind}}, p.path); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// BenchmarkPredict is a million calls through a pool of 20.
func BenchmarkPredict(b *testing.B) {
	calls := paced(1_000_000, 3*ms)
	for b.Loop() {
		Predict(calls, Pool{Client: apache(nil), Connections: 20}, closesAfter(time.Second))
	}
}
