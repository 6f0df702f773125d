package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// writeLockWait is how long a writer waits for another: that one holds the lock
// while it reads, changes and writes one document, some milliseconds.
const writeLockWait = 10 * time.Second

// takeWriteLock waits for the lock under which the state is replaced. It stands
// beside the run's lock, so that an edit can come between two saves of a run.
func takeWriteLock(ctx context.Context, path string) (*lock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, writeLockWait, fmt.Errorf("it was not free within %s", writeLockWait))
	defer cancel()
	pause := time.Millisecond
	for {
		held, err := takeLock(path, path+".write")
		var taken *LockedError
		if err == nil || !errors.As(err, &taken) {
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		case <-time.After(pause + rand.N(pause)):
		}
		pause = min(2*pause, 100*time.Millisecond)
	}
}
