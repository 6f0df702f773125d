package main

import (
	"errors"
	"io"
	"os"
	"testing"
)

// full is a stdout that takes nothing, as a full disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestUnwritableStdoutIsStatusFour: it is not the command line that is wrong.
func TestUnwritableStdoutIsStatusFour(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"schema", "version", "lab", "demo"} {
		code := execute(t.Context(), system{
			args: []string{command}, stdout: full{}, stderr: io.Discard, readFile: os.ReadFile,
			env: func(string) (string, bool) { return "", false },
		})
		if code != exitOwn {
			t.Errorf("perch %s: exit status %d, want 4", command, code)
		}
	}
}
