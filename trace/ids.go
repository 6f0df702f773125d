package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"perch.example/probes"
)

// Ids are random where they went out, in the attempt's traceparent. All others follow
// from those by a hash: a run that is sent twice is the same spans twice, which a
// store takes for one.

// traceID returns 16 bytes: the attempt's trace, or one of the outcome's own where
// none was begun.
func traceID(run probes.Run, o probes.Outcome) []byte {
	for _, a := range o.Attempts {
		if id := decoded(a.TraceID, 16); id != nil {
			return id
		}
	}
	return hashed(16, run.RunID, o.ID(), o.Hold.String(), o.Started.UTC().Format(time.RFC3339Nano))
}

// outcomeSpan returns the 8 bytes of the span above the attempts.
func outcomeSpan(trace []byte) []byte { return hashed(8, hex.EncodeToString(trace), "outcome") }

// attemptSpan returns the 8 bytes that went out, or those of an attempt that got no
// request out.
func attemptSpan(trace []byte, a probes.Attempt) []byte {
	if id := decoded(a.SpanID, 8); id != nil {
		return id
	}
	return hashed(8, hex.EncodeToString(trace), "attempt", fmt.Sprint(a.Number))
}

// decoded returns an id's bytes; nil: it is none, or all zero, which W3C forbids.
func decoded(id string, size int) []byte {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != size {
		return nil
	}
	for _, b := range raw {
		if b != 0 {
			return raw
		}
	}
	return nil
}

func hashed(size int, parts ...string) []byte {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // a hash takes everything
	}
	id := h.Sum(nil)[:size]
	id[size-1] |= 1 // never all zero
	return id
}
