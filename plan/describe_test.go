package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// grpcTarget is a target whose one probe calls a method.
func grpcTarget(kind probes.Kind, g probes.GRPC) probes.Target {
	u := address("http://api.example")
	return probes.Target{
		Name: "stock", URL: u, RateLimit: 20, Share: 0.05, DailyLimit: 5000, MaxConnections: 16,
		Probes: []probes.Spec{{
			Target: "stock", Probe: "list", Kind: kind, URL: u, Timeouts: timeouts(), ReadOnly: "it lists", GRPC: &g,
			Every: 5 * time.Minute, Holds: []time.Duration{10 * time.Second, 20 * time.Second},
		}},
	}
}

// TestShapeDescribed: reflection's request leaves first, on a connection of its
// own, and all else that much later.
func TestShapeDescribed(t *testing.T) {
	target := grpcTarget(probes.KindIdle, probes.GRPC{Method: "shop.Stock/List"})
	const ms = time.Millisecond
	want := []Booking{{0, 700 * ms}, {10 * time.Second, 10*time.Second + 1000*ms}, {10*time.Second + ControlDelay, 10*time.Second + ControlDelay + 1000*ms}, {0, 200 * ms}}
	if got := Shape(&target.Probes[0], 10*time.Second); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	target = grpcTarget(probes.KindGRPC, probes.GRPC{Method: "shop.Stock/List"})
	if got := Shape(&target.Probes[0], 0); !slices.Equal(got, []Booking{{0, 700 * ms}, {0, 200 * ms}}) {
		t.Errorf("a single exchange: %v", got)
	}
	for _, g := range []probes.GRPC{{}, {Method: "shop.Stock/List", DescriptorSet: "stock.binpb"}} {
		target = grpcTarget(probes.KindGRPC, g)
		if got := Shape(&target.Probes[0], 0); !slices.Equal(got, []Booking{{0, 200 * ms}}) {
			t.Errorf("%+v: %v, want one booking", g, got)
		}
	}
}

func TestDescribedCost(t *testing.T) {
	for _, tt := range []struct {
		kind        probes.Kind
		g           probes.GRPC
		usual, most int
	}{
		{probes.KindGRPC, probes.GRPC{Method: "shop.Stock/List"}, 2, 5},
		{probes.KindGRPC, probes.GRPC{}, 1, 1},
		{probes.KindIdle, probes.GRPC{Method: "shop.Stock/List"}, 5, 10},
		{probes.KindIdle, probes.GRPC{Method: "shop.Stock/List", DescriptorSet: "stock.binpb"}, 4, 6},
	} {
		p, err := New(config.Config{Targets: []probes.Target{grpcTarget(tt.kind, tt.g)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Requests != tt.usual || p.MaxRequests != tt.most {
			t.Errorf("%s %+v: %d to %d requests, want %d to %d", tt.kind, tt.g, p.Requests, p.MaxRequests, tt.usual, tt.most)
		}
		for _, s := range p.Steps {
			if (s.Describe != 0) != s.Spec.Reflects() || s.Warm == 0 || (s.Control != 0) != (tt.kind == probes.KindIdle) {
				t.Errorf("%s %+v: booked %+v", tt.kind, tt.g, s)
			}
		}
		var text strings.Builder
		if err := p.Text(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), string(tt.kind)+" "+tt.g.Sends()) || strings.Contains(text.String(), "server reflection describes shop.Stock/List") != (tt.usual == 2 || tt.usual == 5) {
			t.Errorf("%s", text.String())
		}
	}
}

// TestDescribedShortHold: the refusal counts reflection's request.
func TestDescribedShortHold(t *testing.T) {
	target := grpcTarget(probes.KindIdle, probes.GRPC{Method: "shop.Stock/List"})
	target.Probes[0].Holds = []time.Duration{time.Second}
	_, err := New(config.Config{Targets: []probes.Target{target}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "needs 4 requests within 2.1s (server reflection, warm-up, reuse and control)") || !strings.Contains(err.Error(), "holds from 2.7s") {
		t.Fatalf("%v", err)
	}
	target.Probes[0].Holds = []time.Duration{2700 * time.Millisecond}
	if _, err := New(config.Config{Targets: []probes.Target{target}}, Options{}); err != nil {
		t.Errorf("what would fit does not: %v", err)
	}
}
