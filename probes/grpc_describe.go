package probes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

const (
	// MostDescribing is how many requests server reflection may take for one step.
	MostDescribing = 4
	// describedFor is how long descriptors are taken for right: a new release of
	// the API may bring others.
	describedFor = time.Hour
	// undescribedFor is for how long a server that does not describe a method is
	// not asked again.
	undescribedFor = time.Minute
	// mostDescribed bounds how many methods are remembered.
	mostDescribed = 256
)

// Descriptors remembers what server reflection said, for all steps of a process:
// then only the first one asks. The zero value is ready, and safe for concurrent
// use.
type Descriptors struct {
	mu    sync.Mutex
	known map[string]*description
}

// description is what is known of one method. Who holds its turn reads and
// changes it.
type description struct {
	turn    chan struct{}
	method  *described
	refused string // why the server did not describe it, where it answered at all
	at      time.Time
	version int // of reflection: the one that answered last
}

// take waits for the turn at a method. The caller calls give.
func (d *Descriptors) take(ctx context.Context, key string) (*description, error) {
	if d == nil {
		return &description{turn: make(chan struct{}, 1)}, nil
	}
	d.mu.Lock()
	one := d.known[key]
	if one == nil {
		if d.known == nil || len(d.known) >= mostDescribed {
			d.known = map[string]*description{} // who holds one keeps it
		}
		one = &description{turn: make(chan struct{}, 1)}
		d.known[key] = one
	}
	d.mu.Unlock()
	select {
	case one.turn <- struct{}{}:
		return one, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (d *description) give() {
	select {
	case <-d.turn:
	default: // nobody else can ask for it
	}
}

// describe makes sure that the call knows what to send. It asks server reflection
// on a connection of its own, before the one that the probe is about is opened:
// that one then carries the method and nothing else, is as old as an application's
// would be, and looks the same whether descriptors were remembered or not. False:
// x says why nothing more can be sent, an attempt that failed or a denial.
func (c *call) describe(ctx context.Context, role Role) (x exchanged, ok bool) {
	if c.grpc == nil || c.grpc.known {
		return x, true
	}
	one, err := c.env.Descriptors.take(ctx, c.describedKey())
	if err != nil {
		return exchanged{denied: err}, false
	}
	defer one.give()
	age := time.Since(one.at)
	switch {
	case one.method != nil && age < describedFor:
	case one.refused != "" && age < undescribedFor:
		return exchanged{denied: &Denied{Why: one.refused + " (a moment ago)"}}, false
	default:
		if x = c.reflect(ctx, role, one); one.method == nil || x.denied != nil {
			return x, false
		}
	}
	if err := c.speak(one.method); err != nil {
		return exchanged{denied: err}, false
	}
	return exchanged{}, true
}

// describedKey tells methods of different servers apart.
func (c *call) describedKey() string {
	return strings.Join([]string{c.url.Scheme, hostPort(&c.url), c.header.Get("Host"), c.spec.Way.Socket, c.spec.GRPC.Method}, "\x00")
}

// reflect asks the server what the method's messages are, and puts it into one.
func (c *call) reflect(ctx context.Context, role Role, one *description) (x exchanged) {
	one.method, one.refused = nil, ""
	if role == RoleWarm {
		role = RoleDescribe
	}
	r := reflecting{call: c, role: role, one: one}
	if x = c.connect(ctx, role); x.conn == nil {
		return x
	}
	defer func() { x.close() }()
	service, _, _ := strings.Cut(c.spec.GRPC.Method, "/")
	bad := r.ask(ctx, &x, [][]byte{askFor(askFileOfSymbol, service)})
	for bad == nil && x.denied == nil && x.attempt.OK() {
		missing, err := r.files.missing()
		if err != nil {
			bad = &fault{ReasonBadResponse, err.Error()}
			break
		}
		if len(missing) == 0 || r.sent >= MostDescribing || r.files.suffice() {
			bad, x.denied = r.end()
			break
		}
		var messages [][]byte
		for _, name := range missing {
			messages = append(messages, askFor(askFileByName, name))
		}
		bad = r.ask(ctx, &x, messages)
	}
	one.at = time.Now()
	if bad != nil {
		x.attempt.Reason, x.attempt.Detail, one.refused = bad.reason, bad.detail, "server reflection: "+bad.detail
	}
	if x.denied == nil && !x.attempt.OK() {
		x.attempt.Detail = "server reflection: " + x.attempt.Detail
	}
	return x
}

// reflecting is one talk with server reflection.
type reflecting struct {
	call  *call
	role  Role
	one   *description
	files protoFiles
	sent  int
}

// end builds what was learnt. A method that the server itself does not have is not
// what was agreed, as UNIMPLEMENTED would be. Its error is a *misfit: the method is
// not for perch.
func (r *reflecting) end() (*fault, error) {
	files, err := r.files.build()
	if err != nil {
		return &fault{ReasonBadResponse, err.Error()}, nil
	}
	r.one.method, err = describedIn(files, r.call.spec.GRPC.Method)
	var m *misfit
	if errors.As(err, &m) && m.absent {
		return &fault{ReasonStatus, m.what + " (a call of it would end UNIMPLEMENTED)"}, nil
	}
	return nil, err
}

// ask sends questions in one stream and takes the files of all answers, with the
// older reflection where the server has no newer one.
func (r *reflecting) ask(ctx context.Context, x *exchanged, questions [][]byte) *fault {
	for {
		versions := reflectionPaths()
		r.send(ctx, x, versions[r.one.version], questions)
		switch {
		case x.denied != nil:
			return nil
		case x.attempt.GRPC == nil, x.attempt.OK():
		case x.attempt.GRPC.Code == codeUnimplemented && r.one.version+1 < len(versions) && r.sent < MostDescribing:
			r.one.version++
			continue
		case x.attempt.GRPC.Code == codeUnimplemented:
			r.one.version = 0
			r.one.refused = "the server has no server reflection"
			x.denied = misfits("grpc.method %s: the server has no server reflection: give perch the descriptors with grpc.descriptor_set", r.call.spec.GRPC.Method)
			return nil
		}
		if !x.attempt.OK() {
			return nil
		}
		return r.learn(x.response)
	}
}

// send makes one request, on the connection that is open, or on a new one where
// the budget has no room soon enough for that.
func (r *reflecting) send(ctx context.Context, x *exchanged, path string, questions [][]byte) {
	asking := r.call.asking(path, questions)
	if !x.response.Close && x.conn != nil {
		x.take(asking.exchange(ctx, x.conn, r.role))
		var d *Denied
		if r.sent++; !errors.As(x.denied, &d) || !d.Later || r.sent == 1 {
			return
		}
	}
	x.close()
	again := r.call.connect(ctx, RoleAgain)
	x.take(again)
	x.conn, x.release = again.conn, again.release
	if again.conn != nil {
		x.take(asking.exchange(ctx, x.conn, RoleAgain))
	}
}

// learn takes the files of an answer.
func (r *reflecting) learn(response wire.Response) *fault {
	messages, bad := unframed(response.Body, response.Header.Get("Grpc-Encoding"), mostDescriptors)
	if bad != nil {
		return bad
	}
	before := len(r.files.known)
	for _, m := range messages {
		answer, ok := reflectedIn(m)
		if !ok {
			return &fault{ReasonBadResponse, "the message is no answer of it"}
		}
		for _, f := range answer.files {
			if err := r.files.add(f); err != nil {
				return &fault{ReasonBadResponse, err.Error()}
			}
		}
		if answer.code != 0 && before == 0 { // a file that it lacks later may not be needed
			return r.unknown(answer.code)
		}
	}
	if len(r.files.known) == before && before == 0 {
		return &fault{ReasonBadResponse, "the answer has no descriptor in it"}
	}
	if len(r.files.known) == before {
		r.sent = MostDescribing // what it does not have it will not have next time
	}
	return nil
}

func (r *reflecting) unknown(code int) *fault {
	service, _, _ := strings.Cut(r.call.spec.GRPC.Method, "/")
	if code == codeNotFound {
		return &fault{ReasonStatus, "the server knows no service " + service}
	}
	return &fault{ReasonStatus, fmt.Sprintf("asked for %s it says %s", service, codeName(code))}
}

// asking is the call of one request to server reflection: of the same host, with
// the same metadata, whose answer may be as large as descriptors are.
func (c *call) asking(path string, questions [][]byte) *call {
	spec := *c.spec
	spec.MaxBody, spec.Expect = mostDescriptors, &expect.Set{}
	asking := *c
	asking.spec, asking.grpc = &spec, &grpcCall{known: true, reflection: true}
	asking.calls(path)
	asking.body = framed(questions...)
	return &asking
}
