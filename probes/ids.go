package probes

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// IDs makes W3C trace and span ids from the run's seed: the same seed gives
// the same ids, a new run has a new seed. Safe for concurrent use.
type IDs struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

// NewIDs seeds the ids.
func NewIDs(seed uint64) *IDs {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], "perch trace ids")
	return &IDs{src: rand.NewChaCha8(key)}
}

// Trace returns a trace id: 32 hex digits, never all zero.
func (i *IDs) Trace() string { return i.hex(16) }

// Span returns a span id: 16 hex digits, never all zero.
func (i *IDs) Span() string { return i.hex(8) }

func (i *IDs) hex(n int) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	b := make([]byte, n)
	_, _ = i.src.Read(b) // never fails
	b[n-1] |= 1          // W3C forbids an all-zero id
	return hex.EncodeToString(b)
}
