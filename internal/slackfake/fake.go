// Package slackfake is Slack for tests: as strict as Slack's documentation of
// its Web API and of incoming webhooks says, and with what integrators have
// seen it answer. It knows nothing of perch's sender. It is an http.Handler, for
// a real server, and gives a RoundTripper that needs no network, for a
// testing/synctest bubble.
package slackfake

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is a workspace with one app.
type Config struct {
	Token    string   // the bot's
	Scopes   []string // granted to it: chat:write, files:write, chat:write.public
	Channels []Channel
	Hooks    []Hook
	// EditWindow is how long a message can be edited; 0: for ever.
	EditWindow time.Duration
	// BlockBytes is the largest JSON of one message's blocks; 0: any. Slack
	// refuses what is larger (msg_blocks_too_long), and publishes no number:
	// integrators met 13,200.
	BlockBytes int
	// Now gives message ids their time; nil: time.Now.
	Now func() time.Time
}

// Channel is a conversation of the workspace.
type Channel struct {
	ID       string // "C0123456789"
	Name     string // without #
	Private  bool
	Archived bool
	Member   bool // the bot was invited
}

// Hook is an incoming webhook.
type Hook struct {
	Path    string // "/services/T.../B.../secret"
	Channel string // id
}

// Fake is a workspace that remembers all that it accepted. New makes one. Its
// methods may be called from many goroutines.
type Fake struct {
	mu       sync.Mutex
	config   Config
	faults   map[string][]Fault
	script   func(Call) Fault
	calls    []Call
	events   []Event
	messages []*Message
	uploads  []*upload
	shared   []File
	remarks  []string
	serial   int
}

// New gives a workspace in which nothing was said yet.
func New(c Config) *Fake {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Fake{config: c, faults: map[string][]Fault{}}
}

// Change alters the workspace: a channel is archived, a token revoked.
func (f *Fake) Change(how func(*Config)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(&f.config)
}

// The names of what is not a method of the Web API.
const (
	MethodUpload  = "upload"  // a file's bytes, to the address that was given out
	MethodWebhook = "webhook" // an incoming webhook
)

// methodOf names what a request calls; empty: nothing that exists.
func methodOf(path string) string {
	if method, ok := strings.CutPrefix(path, "/api/"); ok {
		return method
	}
	if strings.HasPrefix(path, uploadPath) {
		return MethodUpload
	}
	if strings.HasPrefix(path, "/services/") {
		return MethodWebhook
	}
	return ""
}

// mostBody is the largest request that is read, in bytes.
const mostBody = 32 << 20

// ServeHTTP answers one request.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody))
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away while it sent
	}
	call, fault := f.begin(r)
	if !fault.wait(r.Context()) {
		f.end(call, "the client gave up", false)
		panic(http.ErrAbortHandler)
	}
	if fault.finish != nil && !fault.accepted {
		f.end(call, fault.String(), false)
		fault.finish(w, r, call.Method)
		return
	}
	f.mu.Lock()
	a := f.handle(call.Method, r, body)
	f.mu.Unlock()
	if fault.finish != nil {
		f.end(call, a.result+", then "+fault.String(), a.accepted())
		fault.finish(w, r, call.Method)
		return
	}
	f.end(call, a.result, a.accepted())
	a.write(w)
}

// handle does what a request asks for. The caller holds the lock.
func (f *Fake) handle(method string, r *http.Request, body []byte) answer {
	if r.Method != http.MethodPost {
		return page(http.StatusMethodNotAllowed, "method not allowed")
	}
	switch method {
	case MethodUpload:
		return f.receive(r, body)
	case MethodWebhook:
		return f.webhook(r, body)
	case "":
		return page(http.StatusNotFound, "not found")
	}
	return f.api(method, r, body)
}

// Transport answers without a network. Where a server would close the
// connection, it fails with io.ErrUnexpectedEOF, or with the request's own end.
func (f *Fake) Transport() http.RoundTripper { return transport{f} }

type transport struct{ fake *Fake }

func (t transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	defer func() {
		cause := recover()
		thrown, _ := cause.(error)
		switch {
		case cause == nil:
		case !errors.Is(thrown, http.ErrAbortHandler):
			panic(cause)
		case r.Context().Err() != nil:
			resp, err = nil, r.Context().Err()
		default:
			resp, err = nil, io.ErrUnexpectedEOF
		}
	}()
	to := r.Clone(r.Context())
	if to.Body == nil {
		to.Body = http.NoBody
	}
	defer func() { _ = to.Body.Close() }()
	if to.Host == "" {
		to.Host = to.URL.Host
	}
	recorder := httptest.NewRecorder()
	t.fake.ServeHTTP(recorder, to)
	resp = recorder.Result()
	resp.Request = r
	return resp, nil
}

// channel finds a channel by its id, or by its name where that is allowed. A
// private one that the bot is not in does not exist for it.
func (f *Fake) channel(name string, byName bool) (Channel, bool) {
	at := slices.IndexFunc(f.config.Channels, func(c Channel) bool {
		return c.ID == name || byName && c.Name != "" && c.Name == strings.TrimPrefix(name, "#")
	})
	if at < 0 || f.config.Channels[at].Private && !f.config.Channels[at].Member {
		return Channel{}, false
	}
	return f.config.Channels[at], true
}
