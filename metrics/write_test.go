package metrics

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
)

// What is written piece by piece is what client_golang's own encoders write of
// all series at once.
func TestPiecesAreTheWhole(t *testing.T) {
	for _, targets := range []int{0, 1, 20} {
		o := many(t, targets)
		m := New(o)
		m.Observe(healthy(o, 0))
		if targets == 20 && len(m.vectors.attempts.values) < 3*piece {
			t.Fatal("one piece holds it all")
		}
		all, err := m.Gatherer().Gather()
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, f := range all {
			if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
				t.Fatal(err)
			}
		}
		if exposition(t, m) != text.String() {
			t.Errorf("%d targets: the text differs", targets)
		}
		checkDelimited(t, m)
	}
}

func checkDelimited(t *testing.T, m *Metrics) {
	t.Helper()
	raw, err := m.bare.delimited()
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.bare.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if size := cap(raw); len(raw) < size/2 {
		t.Errorf("%d bytes were made room for, %d came", size, len(raw))
	}
	about := 0
	for _, v := range m.bare.vectors {
		about += v.about(nil)
	}
	if about < len(raw) {
		t.Errorf("%d bytes were thought to be enough, %d came", about, len(raw))
	}
	r := bytes.NewReader(raw)
	for _, want := range all {
		var got dto.MetricFamily
		if err := (protodelim.UnmarshalOptions{MaxSize: -1}).UnmarshalFrom(r, &got); err != nil {
			t.Fatalf("%s: %v", want.GetName(), err)
		}
		if !proto.Equal(&got, want) {
			t.Errorf("%s differs: %d series, want %d", want.GetName(), len(got.GetMetric()), len(want.GetMetric()))
		}
	}
	if r.Len() > 0 {
		t.Errorf("%d bytes are left over", r.Len())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTextSaysThatItCouldNotBeWritten(t *testing.T) {
	if err := New(shop(t)).Text(brokenWriter{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
