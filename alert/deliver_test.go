package alert

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// senderFunc answers without a network.
type senderFunc func(n Notice) error

func (f senderFunc) Send(_ context.Context, n Notice, so Receipt) (Receipt, error) { return so, f(n) }

func (f senderFunc) Wants(Kind) bool { return true }

// waiting is a notice that one destination is to be told.
func waiting(n Notice) Notice {
	n.Ways = ways([]string{"slack"})
	return n
}

func TestDeliver(t *testing.T) {
	down := &SendError{Status: 404, Body: "no_service"}
	unclear := &SendError{Status: 500, Ambiguous: true}
	refused := &SendError{Status: 400, Content: true}
	tests := []struct {
		name             string
		answers          map[string]error
		tried            []string
		waiting, doubted []string
		told, ambiguous  int
	}{
		{"all told", nil, []string{"1", "2", "3"}, nil, nil, 3, 0},
		{"the first fails: the order holds", map[string]error{"1": down}, []string{"1"}, []string{"1", "2", "3"}, nil, 0, 0},
		{"the second has no clear answer", map[string]error{"2": unclear}, []string{"1", "2"}, []string{"2", "3"}, []string{"2"}, 1, 1},
		{"one is refused for what it says: the others pass", map[string]error{"2": refused}, []string{"1", "2", "3"}, []string{"2"}, nil, 2, 0},
		{"an error of another kind may hide a delivery", map[string]error{"1": errors.New("odd")}, []string{"1"}, []string{"1", "2", "3"}, []string{"1"}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			notices := []Notice{waiting(Notice{ID: "1"}), waiting(Notice{ID: "2"}), waiting(Notice{ID: "3"})}
			var tried []string
			m := MarkSending(Memory{Outbox: notices})
			m, all := Deliver(t.Context(), m, []Destination{{Name: "slack", Sender: senderFunc(func(n Notice) error {
				tried = append(tried, n.ID)
				return tt.answers[n.ID]
			})}}, noon())
			got := all[0]
			var waiting, doubted []string
			for _, n := range m.Outbox {
				waiting = append(waiting, n.ID)
				if n.Ways[0].PossibleRepeat {
					doubted = append(doubted, n.ID)
				}
				if n.Ways[0].Sending {
					t.Errorf("%s still counts as being sent", n.ID)
				}
			}
			if !slices.Equal(tried, tt.tried) || !slices.Equal(waiting, tt.waiting) || !slices.Equal(doubted, tt.doubted) {
				t.Errorf("tried %v, waiting %v, doubted %v; want %v, %v, %v", tried, waiting, doubted, tt.tried, tt.waiting, tt.doubted)
			}
			if got.Told != tt.told || got.Untold != 3-tt.told || got.Ambiguous != tt.ambiguous || len(got.Errors) != len(tt.answers) {
				t.Errorf("delivery %+v, want told %d, ambiguous %d", got, tt.told, tt.ambiguous)
			}
		})
	}
}
