package runner

import (
	"sync"

	"perch.example/probes"
)

// secretCache reads each source once a run, and anew once it was forgotten
// (after a 401: it may have been rotated).
type secretCache struct {
	source probes.ReadSecret
	mu     sync.Mutex
	known  map[probes.Source]probes.Secret
}

func newSecretCache(source probes.ReadSecret) *secretCache {
	return &secretCache{source: source, known: map[probes.Source]probes.Secret{}}
}

func (c *secretCache) read(s probes.Source) (probes.Secret, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.known[s]; ok {
		return v, nil
	}
	v, err := c.source(s)
	if err == nil {
		c.known[s] = v
	}
	return v, err
}

func (c *secretCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
}
