package stood

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// stop has this process stand still for so long, as a machine does that has no time for it.
func stop(t *testing.T, seconds string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", fmt.Sprintf("kill -STOP %[1]d; sleep %[2]s; kill -CONT %[1]d", os.Getpid(), seconds))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSince: a stop is seen for as long as it was, and one before is not counted.
func TestSince(t *testing.T) {
	r := Recorded(t, Moment)
	began := time.Now()
	stop(t, "0.3")
	if got, took := r.Since(began), time.Since(began); got < 280*time.Millisecond || got > took {
		t.Errorf("%s, want about 300ms, and no more than %s", got, took)
	}
	if got := r.During(began, time.Now()); got < 280*time.Millisecond || got > time.Since(began) {
		t.Errorf("%s in all", got)
	}
	Again(t, Moment, func() (wrong []string) {
		if still := r.Since(time.Now()); still > 0 {
			wrong = append(wrong, fmt.Sprintf("it stood still for %s, and it did not", still))
		}
		return wrong
	})
}

// failures is a test that only notes what fails it.
type failures struct {
	testing.TB
	all []any
}

func (f *failures) Error(args ...any) { f.all = append(f.all, args...) }

// TestAgain: what is wrong while the machine stands still is played anew, what is wrong
// every time fails the test.
func TestAgain(t *testing.T) {
	played, f := 0, &failures{TB: t}
	Again(f, Moment, func() []string {
		if played++; played > 1 {
			return nil
		}
		stop(t, "0.1")
		return []string{"late"}
	})
	if len(f.all) > 0 || played != 2 {
		t.Errorf("played %d times: %v", played, f.all)
	}
	played = 0
	Again(f, Moment, func() []string {
		played++
		stop(t, "0.05")
		return []string{"wrong"}
	})
	if len(f.all) != 1 || played != plays {
		t.Errorf("played %d times, want %d: %v", played, plays, f.all)
	}
	played, f.all = 0, nil
	Again(f, time.Hour, func() []string { // no machine stands still for so long
		played++
		return []string{"wrong"}
	})
	if len(f.all) != 1 || played != 1 {
		t.Errorf("played %d times on a machine that never stood still: %v", played, f.all)
	}
}
