package wire

import "testing"

// What waits is what TCP_INFO counted: not a FIN, and not what came after it.
func TestUnread(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		counted, waiting, want int
	}{
		{"nothing", 0, 0, 0},
		{"a FIN", 1, 0, 0},
		{"bytes", 4, 4, 4},
		{"bytes and a FIN", 5, 4, 4},
		{"bytes, and more since", 4, 40, 4},
		{"a FIN that was no byte", 4, 4, 4},
	} {
		if got := unread(tt.counted, tt.waiting); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
