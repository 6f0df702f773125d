package main

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/state"
)

// hanging is a diary whose destinations never answer.
type hanging struct {
	diary
	begun chan struct{} // closed when the first notice is on its way
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Host, "push") && !slices.Contains(h.events, "save") {
		return h.diary.RoundTrip(r) // the first push
	}
	_ = h.note(r.URL.Host)
	if strings.HasPrefix(r.URL.Host, "slack") {
		close(h.begun)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSignalInTheMiddleOfFinish: destinations that hang do not keep perch from
// ending in the kubelet's patience, with all of it kept.
func TestSignalInTheMiddleOfFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{begun: make(chan struct{})}
		p, _ := newPass(t, noted, &h.diary)
		p.sys.web = h
		ctx, signal := context.WithCancelCause(t.Context())
		var at time.Time
		go func() {
			<-h.begun
			time.Sleep(3 * time.Second)
			at = time.Now()
			signal(errors.New("SIGTERM"))
		}()
		run := takeUntil(ctx, t, p, probes.VerdictFail)
		if took := time.Since(at); took < 0 || took > flushWithin {
			t.Errorf("finish ended %s after the signal, want within %s", took, flushWithin)
		}
		wantEvents := []string{"reserve", "push", "save", "slack.example", "save", "push.example", "save"}
		if !slices.Equal(h.events, wantEvents) {
			t.Errorf("%q, want %q", h.events, wantEvents)
		}
		if len(run.Problems) != 2 || len(p.memory.Outbox) != 1 {
			t.Errorf("problems %v, %d in the outbox; want the notice's and the push's, and the notice kept", run.Problems, len(p.memory.Outbox))
			return
		}
		want(t, "the notice's problem", run.Problems[0].Text, "perch had to end before there was an answer")
	})
}

// TestTextfileSaysWhatIsKept: a problem that was counted and not kept would go
// backwards in the next run.
func TestTextfileSaysWhatIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m.prom")
	text := strings.Replace(noted, "push.example}}", "push.example}, textfile: "+file+"}", 1)
	var doc state.Document
	for n, c := range []struct {
		fails []string
		want  []string
	}{
		{nil, []string{`part="push",perch="noted",vantage="test"} 0`, `perch_runs_total{perch="noted",vantage="test",verdict="pass"} 1`}},
		{[]string{"push 2", "save 2"}, []string{`part="push",perch="noted",vantage="test"} 0`, `verdict="pass"} 2`}},
		{[]string{"push 2"}, []string{`part="push",perch="noted",vantage="test"} 1`, `verdict="pass"} 3`}},
		{nil, []string{`part="push",perch="noted",vantage="test"} 1`, `verdict="pass"} 4`}},
	} {
		d := &diary{doc: doc, fails: func(event string, nth int) error {
			if slices.Contains(c.fails, event+" "+string(rune('0'+nth))) {
				return errors.New("broken")
			}
			return nil
		}}
		p, _ := newPass(t, text, d)
		take(t, p, probes.VerdictPass)
		doc = d.doc
		want(t, "the text file of run "+string(rune('1'+n)), read(t, file), c.want...)
	}
}

// tripper is a transport that is one function.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestPushHeaders are read anew for each push, and sent.
func TestPushHeaders(t *testing.T) {
	t.Parallel()
	text := strings.Replace(noted, "push.example}}", `push.example, headers: [{name: Authorization, prefix: "Basic ", from: {env: HOOK}}]}}`, 1)
	d := &diary{}
	p, _ := newPass(t, text, d)
	sent := map[string]int{}
	p.sys.web = tripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "push.example" {
			sent[r.Header.Get("Authorization")]++
		}
		return d.RoundTrip(r)
	})
	if run := take(t, p, probes.VerdictPass); len(run.Problems) > 0 {
		t.Fatal(run.Problems)
	}
	if len(sent) != 1 || sent["Basic https://slack.example/services/T/B/x"] != 2 {
		t.Errorf("pushed with %v, want both with the header", sent)
	}
}
