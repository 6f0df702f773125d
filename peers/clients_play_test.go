//go:build peers

package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/lab"
	"perch.example/probes"
)

// The lab ends what was idle for a second; clients come back half a second
// later. Apache looks at what was idle for 2 s.
const (
	clientIdle   = 1500 * time.Millisecond
	lookedIdle   = 2500 * time.Millisecond
	wakesWithin  = 300 * time.Millisecond // later, and the cell is played again
	seenWithin   = 150 * time.Millisecond // the close must be that much older than the reuse
	slow         = 4500 * time.Millisecond
	patient      = 10 * time.Second
	short        = 1500 * time.Millisecond
	clientRounds = 8
)

// column is one thing that a server does.
type column struct {
	scenario string
	reason   probes.Reason
	closes   bool          // the server ends the connection while it is idle
	rests    bool          // the client leaves it idle for as long, and the server ends nothing
	cold     bool          // there never is a connection
	tls      bool          // over TLS
	h2       bool          // over HTTP/2, which is over TLS
	patience time.Duration // of the client, where a timeout is what shows it; 0: patient
}

// clientJob is one cell of the matrix: one client meets one column.
type clientJob struct {
	id, kind, variant, method, url string
	column                         column
}

// The variants of a client.
const (
	variantDefault      = ""
	variantRetriesOff   = "retries_off"
	variantRetryPostOff = "retry_post_off"
	variantLooks        = "looks" // idle for long enough that it looks first
	variantRestTemplate = "resttemplate"
	variantTrusting     = "trusting" // any certificate will do
)

func (j clientJob) idle() time.Duration {
	switch {
	case !j.column.closes && !j.column.rests:
		return 200 * time.Millisecond
	case j.variant == variantLooks, j.column.rests: // a limit in whole seconds may be one too late
		return lookedIdle
	default:
		return clientIdle
	}
}

func (j clientJob) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", j.kind, j.variant, j.column.scenario, j.method))
}

// clientThrown is an error as its language knows it.
type clientThrown struct {
	Names  []string // what it is, the most exact first
	Text   string
	Causes []string
}

// clientResult is what a program says of a job.
type clientResult struct {
	ID                 string
	Warmed, Sent, Done int64 // ms since 1970
	Status             int
	Error, Inside      *clientThrown
}

// clientMet is a played cell: what the client says, and what the server and the
// packets say.
type clientMet struct {
	clientResult
	requests int  // how often the second request reached the server
	onOld    bool // once on the connection that had idled
	wrote    bool // it was written into the connection that the server had ended
}

// clientServers are the lab's servers of one round: one for each column and
// method, for two clients of one process may share a pool by host and port.
type clientServers struct {
	mu      sync.Mutex
	servers map[string]clientServer
}

type clientServer struct {
	*lab.Server
	capture *Capture
}

func (s *clientServers) of(t *testing.T, c column, method string) clientServer {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprint(c.scenario, method, c.tls || c.h2)
	if server, ok := s.servers[key]; ok {
		return server
	}
	server, err := lab.Start(t.Context(), c.scenario, lab.Options{Healthy: 1, TLS: c.tls || c.h2})
	if err != nil {
		t.Fatal(err)
	}
	one := clientServer{Server: server}
	if c.closes {
		one.capture = StartCapture(t, netip.MustParseAddrPort(server.Host()).Port())
	}
	if s.servers == nil {
		s.servers = map[string]clientServer{}
	}
	s.servers[key] = one
	return one
}

// playClients plays every job until its idle age was what it had to be: on a
// busy machine a client wakes late, and then it is another cell.
func playClients(t *testing.T, programs *clientPrograms, jobs []clientJob) map[string]clientMet {
	t.Helper()
	met := map[string]clientMet{}
	for round := range clientRounds {
		if len(jobs) == 0 {
			return met
		}
		servers := &clientServers{}
		for i := range jobs {
			jobs[i].id = fmt.Sprintf("r%d-%d", round, i)
			jobs[i].url = servers.of(t, jobs[i].column, jobs[i].method).URL() + "/" + jobs[i].id
		}
		results := runAll(t, programs, jobs)
		var again []clientJob
		for _, j := range jobs {
			m, err := witness(servers.of(t, j.column, j.method), j, results[j.id])
			if err != nil && round == clientRounds-1 {
				t.Errorf("%s: could not be played in %d rounds: %v", j, clientRounds, err)
			}
			if err != nil {
				again = append(again, j)
				continue
			}
			met[j.String()] = m
		}
		jobs = again
	}
	return met
}

// runAll starts each program once, with all of its jobs.
func runAll(t *testing.T, programs *clientPrograms, jobs []clientJob) map[string]clientResult {
	t.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	results := map[string]clientResult{}
	for _, r := range clientRuns() {
		var lines []string
		for _, j := range jobs {
			apart := j.variant == variantRetryPostOff
			if slices.Contains(r.kinds, j.kind) && apart == (r.only == variantRetryPostOff) {
				lines = append(lines, j.line())
			}
		}
		if len(lines) == 0 {
			continue
		}
		argv := programs.argv(t, r)
		running.Go(func() {
			for _, one := range runClients[clientResult](t, argv, lines) {
				mu.Lock()
				results[one.ID] = one
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return results
}

// witness adds what the server and the packets say. An error means that the
// cell was not what it had to be.
func witness(server clientServer, j clientJob, r clientResult) (clientMet, error) {
	m := clientMet{clientResult: r}
	if r.Sent == 0 {
		return m, fmt.Errorf("it never came to the second request: %+v", m)
	}
	if took := time.Duration(r.Done-r.Sent) * time.Millisecond; took > slow && j.column.patience == 0 {
		return m, fmt.Errorf("it took %s", took) // the lab gives a handshake 5 s
	}
	if j.column.cold {
		return m, nil
	}
	var warm, again lab.Request
	for _, q := range server.Requests() {
		switch q.URI {
		case "/" + j.id + "/warm":
			warm = q
		case "/" + j.id + "/again":
			if m.requests++; m.requests == 1 {
				again = q
			}
			m.onOld = m.onOld || q.Connection == warm.Connection
		}
	}
	if !j.column.closes && !j.column.rests {
		return m, nil
	}
	if late := time.Duration(r.Sent-r.Warmed)*time.Millisecond - j.idle(); late > wakesWithin {
		return m, fmt.Errorf("it woke %s late", late)
	}
	if j.column.rests {
		return m, nil
	}
	segments := server.capture.Segments(warm.Remote.Port())
	closes := server.Closes()
	closed := slices.IndexFunc(closes, func(c lab.Close) bool { return c.Connection == warm.Connection })
	switch {
	case closed < 0 && endedByClient(segments):
		return m, nil // it has dropped the connection by itself
	case closed < 0 || time.UnixMilli(r.Sent).Sub(closes[closed].At) < seenWithin:
		return m, fmt.Errorf("the server had not closed for %s when the client came back", seenWithin)
	}
	m.wrote = wroteAfterEnd(segments)
	if j.column.h2 {
		// A client that saw the end says goodbye when it sees it, in GOAWAY and
		// close_notify: only what follows its coming back can be the request.
		m.wrote = wroteSince(segments, time.UnixMilli(r.Sent))
	}
	late := again.At.Sub(time.UnixMilli(r.Sent))
	if j.kind == "apache-httpclient-5.2" {
		late %= time.Second // it waits for so long before it sends again
	}
	if m.requests > 0 && !m.wrote && late > wakesWithin {
		return m, fmt.Errorf("its request came %s late", late)
	}
	return m, nil
}

// wroteAfterEnd reports whether the client sent data on a connection that the
// server had ended.
func wroteAfterEnd(segments []Segment) bool {
	ended := slices.IndexFunc(segments, func(s Segment) bool { return s.FromServer && (s.FIN || s.RST) })
	return ended >= 0 && slices.ContainsFunc(segments[ended:], func(s Segment) bool { return !s.FromServer && s.Data > 0 })
}

// wroteSince is wroteAfterEnd for what left after that moment.
func wroteSince(segments []Segment, since time.Time) bool {
	ended := slices.IndexFunc(segments, func(s Segment) bool { return s.FromServer && (s.FIN || s.RST) })
	return ended >= 0 && slices.ContainsFunc(segments[ended:], func(s Segment) bool {
		return !s.FromServer && s.Data > 0 && !s.At.Before(since)
	})
}

// insideWrapper is what came out of the client below its wrapper, and what a
// layer between the two sees of it.
func (m clientMet) insideWrapper() (clients.Does, *clientThrown) {
	within := m
	within.Error = m.Inside
	if within.Error == nil && m.Error != nil {
		within.Status = 0 // the wrapper made an error of an answer
	}
	return within.does(), within.Error
}

// String says what was seen.
func (m clientMet) String() string {
	if m.Error != nil {
		return fmt.Sprintf("%s: %s (%d requests arrived)", m.Error.Names, m.Error.Text, m.requests)
	}
	return fmt.Sprintf("status %d, %d requests arrived, written to the dead connection: %t", m.Status, m.requests, m.wrote)
}

// endedByClient reports whether the client was the first to end the connection.
func endedByClient(segments []Segment) bool {
	first := slices.IndexFunc(segments, func(s Segment) bool { return s.FIN || s.RST })
	return first >= 0 && !segments[first].FromServer
}

// does is what the client did, by what is known of it from all sides.
func (m clientMet) does() clients.Does {
	switch {
	case m.Error != nil:
		return clients.Fails
	case m.wrote && m.requests == 1, m.requests > 1:
		return clients.Retries
	case m.Status == 200 && m.requests == 1 && !m.onOld:
		return clients.Notices
	default:
		return clients.Returns
	}
}
