package state

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// writerEnv makes the test's binary a writer: it saves one document after the
// other to the file it names, until it is killed.
const writerEnv = "PERCH_STATE_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		fmt.Fprintln(os.Stderr, saveForEver(path))
		os.Exit(1)
	}
	if err := errors.Join(os.Setenv("HTTPS_PROXY", aProxy), os.Setenv("NO_PROXY", ""), os.Setenv("no_proxy", ""), os.Setenv("https_proxy", "")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// saveForEver says the number of each document before it saves it and after.
func saveForEver(path string) error {
	s, err := OpenFile(path, Options{})
	if err != nil {
		return err
	}
	d, err := s.Load(context.Background())
	if err != nil {
		return err
	}
	for n := number(d) + 1; ; n++ {
		fmt.Println("saving", n)
		if err := s.Save(context.Background(), numbered(n)); err != nil {
			return err
		}
		fmt.Println("saved", n)
	}
}

// numbered is a document that carries its number twice, at both ends of some
// thousand bytes that do not pack.
func numbered(n int) Document {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	filling := make([]uint64, 2000)
	for i := range filling {
		filling[i] = random.Uint64()
	}
	content, err := json.Marshal(map[string]any{"a": n, "filling": filling, "z": n})
	if err != nil {
		panic(err)
	}
	var d Document
	d.SetSection("n", content)
	return d
}

// number returns a document's number; 0 for an empty one, -1 for a mixed one.
func number(d Document) int {
	var content struct{ A, Z int }
	if d.Sections["n"] == nil {
		return 0
	}
	if err := json.Unmarshal(d.Sections["n"], &content); err != nil || content.A != content.Z {
		return -1
	}
	return content.A
}

// TestKilledWriters kills 50 writers of one file, each at a random instant of
// its saving. After each the lock is free, and the file is the last document
// that was saved, or the one that was being saved.
func TestKilledWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	random := rand.New(rand.NewPCG(7, 7))
	replaced := 0
	for round := range 50 {
		saved, saving := runAndKill(t, path, time.Duration(random.IntN(20_000))*time.Microsecond)
		s, err := OpenFile(path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		d, err := s.Load(context.Background())
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := number(d); got != saved && got != saving {
			t.Fatalf("round %d: the file holds document %d, want %d or %d", round, got, saved, saving)
		} else if got == saving && saved != saving {
			replaced++
		}
	}
	t.Logf("killed between replacing the file and saying so: %d of 50", replaced)
}

// runAndKill starts a writer, kills it some time after its first save, and
// returns the last number that it said to have saved and to be saving.
func runAndKill(t *testing.T, path string, after time.Duration) (saved, saving int) {
	t.Helper()
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), writerEnv+"="+path)
	var problems strings.Builder
	writer.Stderr = &problems
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		what, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("the writer says %q: %s", line, problems.String())
		}
		if what == "saving" {
			saving = n
			continue
		}
		if saved == 0 {
			time.AfterFunc(after, func() { _ = writer.Process.Kill() })
		}
		saved = n
	}
	if err := writer.Wait(); err == nil || problems.Len() > 0 {
		t.Fatalf("the writer ended by itself (%v): %s", err, problems.String())
	}
	if saved == 0 {
		t.Fatalf("the writer saved nothing")
	}
	return saved, saving
}
