package slackfake

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Fault is what goes wrong with one request. The zero value is that nothing
// does.
type Fault struct {
	name     string
	delay    time.Duration                                               // before anything is done
	accepted bool                                                        // the request is done all the same, and then answered so
	finish   func(w http.ResponseWriter, r *http.Request, method string) // what is done in place of the answer; nil: nothing
}

func (f Fault) String() string { return f.name }

// saying is a fault that answers.
func saying(name string, respond func(method string) answer) Fault {
	return Fault{name: name, finish: func(w http.ResponseWriter, _ *http.Request, method string) { respond(method).write(w) }}
}

// RateLimited says that too much is sent. retryAfter is its header, as it is;
// empty: there is none.
func RateLimited(retryAfter string) Fault {
	return saying("ratelimited "+retryAfter, func(method string) answer {
		a := refused("ratelimited")
		if method == MethodWebhook || method == MethodUpload {
			a = page(http.StatusTooManyRequests, "rate_limited")
		}
		a.status = http.StatusTooManyRequests
		if retryAfter != "" {
			a = a.with("Retry-After", retryAfter)
		}
		return a
	})
}

// Status answers a page of HTML with that status, as what stands before Slack
// does when Slack is away.
func Status(status int) Fault {
	return saying(fmt.Sprintf("status %d", status), func(string) answer {
		return page(status, fmt.Sprintf("<!DOCTYPE html><html><head><title>%d %s</title></head><body>Server Error</body></html>", status, http.StatusText(status)))
	})
}

// Refuse answers an error of the Web API's, or, to a webhook, that word with
// status 403.
func Refuse(code string) Fault {
	return saying(code, func(method string) answer {
		if method == MethodWebhook || method == MethodUpload {
			return page(http.StatusForbidden, code)
		}
		return refused(code)
	})
}

// Cut closes the connection in place of an answer.
func Cut() Fault {
	return Fault{name: "cut", finish: func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) }}
}

// Hang never answers: the client gives up, or waits for ever.
func Hang() Fault {
	return Fault{name: "hang", finish: func(_ http.ResponseWriter, r *http.Request, _ string) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}}
}

// Slow answers as it should, after that time.
func Slow(by time.Duration) Fault { return Fault{name: "slow", delay: by} }

// Accepted is the fault after the request was done: a message stands in its
// channel, and the client cannot know.
func (f Fault) Accepted() Fault {
	f.accepted = true
	f.name += " (accepted)"
	return f
}

// wait holds the request back, and reports whether the client is still there.
func (f Fault) wait(ctx context.Context) bool {
	if f.delay == 0 {
		return true
	}
	timer := time.NewTimer(f.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Fail makes the next n calls of a method go wrong so; the method "" is any.
// What was set first happens first.
func (f *Fake) Fail(method string, n int, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		f.faults[method] = append(f.faults[method], fault)
	}
}

// Script asks for a fault at each call for which Fail has set none. It must not
// call the fake's methods.
func (f *Fake) Script(script func(Call) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

// next takes the fault of a call. The caller holds the lock.
func (f *Fake) next(call Call) Fault {
	for _, method := range []string{call.Method, ""} {
		if waiting := f.faults[method]; len(waiting) > 0 {
			f.faults[method] = waiting[1:]
			return waiting[0]
		}
	}
	if f.script != nil {
		return f.script(call)
	}
	return Fault{}
}
