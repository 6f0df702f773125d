package clients

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"perch.example/probes"
)

// Call is one call of an application.
type Call struct {
	At   time.Duration // when it is made, since any moment that all calls share
	Took time.Duration // for how long it holds its connection
}

// Pool is an application's pool of connections to one host.
type Pool struct {
	Client      probes.Client    // as declared
	Connections int              // at most; 0 and less: as many as there are calls at a time
	Order       probes.PoolOrder // empty: the catalog's for the client
	Method      string           // empty: GET
	Filled      int              // the first of so many calls each, one for each of Connections, are made at a time; 0: none are
}

// Predict says how many of an application's calls, made through a pool on a path that
// ends idle connections, are given one that the path has closed, and how many of those
// fail for the application. Calls may come in any order. A call takes an idle
// connection by the pool's order; one that the client's own limit has ended, or whose
// close it sees by looking, gives way to the next; where there is none, it opens one, or
// waits for the first that is given back. What it sends again by itself, and what the
// declared retry policy sends again, may meet a dead one as well. False: nothing can be said, as
// of a client that the catalog does not know, over HTTP/2, or without a timeout.
func Predict(calls []Call, pool Pool, path Path) (probes.Prediction, bool) {
	client, known := Lookup(pool.Client.Kind)
	if !known || path.Timeout <= 0 || path.HTTP2 || len(calls) == 0 {
		return probes.Prediction{}, false
	}
	pool.Method, pool.Order = cmp.Or(pool.Method, http.MethodGet), cmp.Or(pool.Order, client.Pool.Order)
	s := &simulation{
		idle: newIdleOf(pool.Order), size: pool.Connections, path: path, fates: fatesOf(client, pool, path),
		band: BandOn(pool.Client, path),
		seen: probes.Prediction{Client: pool.Client.Kind, Order: pool.Order, Connections: pool.Connections, Timeout: path.Timeout, Calls: len(calls)},
	}
	if byTime := func(a, b Call) int { return cmp.Compare(a.At, b.At) }; !slices.IsSortedFunc(calls, byTime) {
		calls = slices.Clone(calls)
		slices.SortStableFunc(calls, byTime)
	}
	for i, c := range calls {
		if pool.Filled > 0 && i%pool.Filled == 0 {
			s.fill(pool.Connections)
		}
		s.call(c)
	}
	return s.seen, true
}

// simulation is a pool while calls are made through it.
type simulation struct {
	size  int
	busy  busyHeap
	idle  idleConnections
	fates fates
	path  Path
	band  *probes.Band
	seen  probes.Prediction

	opened int      // connections so far
	atOnce int      // further calls that are made at a time with those before
	apart  []pooled // their connections: none is given back before the last of them is in use
}

// pooled is one connection of the pool.
type pooled struct {
	number int           // in the order in which they were opened
	since  time.Duration // when it was given back, or will be
}

// call makes one call.
func (s *simulation) call(c Call) {
	now := s.wait(c.At)
	opened, dead, served := s.opened, false, false
	for try := 0; try < s.fates.tries && !served; try++ {
		for again := 0; !served; again++ {
			used, alive := s.take(now, try+again == 0)
			if alive {
				used.since = now + max(c.Took, 0)
				s.use(used)
				served = true
				break
			}
			dead = true
			fate := s.fates.of(now - used.since)
			switch {
			case fate != Retried || s.fates.times > 0 && again >= s.fates.times:
			case s.fates.renews:
				s.open(now + max(c.Took, 0))
				served = true
			default:
				continue
			}
			break
		}
	}
	s.count(opened, dead, served)
	if s.atOnce > 0 {
		if s.atOnce--; s.atOnce == 0 {
			s.release()
		}
	}
}

// fill has each of the next n calls use a connection of its own: one that the calls
// before have left, or where there is none, a new one.
func (s *simulation) fill(n int) {
	s.release()
	s.atOnce = max(n, 0)
}

// use hands a connection to a call, until its since.
func (s *simulation) use(c pooled) {
	if s.atOnce > 0 {
		s.apart = append(s.apart, c)
		return
	}
	s.busy.push(c)
}

// release gives back those that were in use at a time, each when its call is done.
func (s *simulation) release() {
	for _, c := range s.apart {
		s.busy.push(c)
	}
	s.apart = s.apart[:0]
}

// count adds what became of a call.
func (s *simulation) count(opened int, dead, served bool) {
	if s.opened > opened {
		s.seen.Fresh++
	}
	if dead {
		s.seen.Dead++
	}
	if !served {
		s.seen.Failed++
	}
}

// wait gives back what is done by then; where the whole pool is in use, it waits for the
// first one.
func (s *simulation) wait(now time.Duration) time.Duration {
	for len(s.busy) > 0 && s.busy[0].since <= now {
		s.idle.put(s.busy.pop())
	}
	if s.size > 0 && len(s.busy) > 0 && len(s.busy)+len(s.apart) >= s.size {
		first := s.busy.pop()
		s.idle.put(first)
		return first.since
	}
	return now
}

// take hands out a connection, and says whether the path has left it alive. The first
// idle one that a call finds is its gap.
func (s *simulation) take(now time.Duration, gap bool) (pooled, bool) {
	for {
		c, ok := s.idle.take()
		if !ok {
			s.opened++
			return pooled{number: s.opened}, true
		}
		idle := now - c.since
		if gap {
			s.seen.Gaps++
			if Holds(s.band, idle) {
				s.seen.InBand++
			}
			gap = false
		}
		switch {
		case s.fates.drops(idle), s.path.ends(idle) && !s.fates.kept && s.fates.of(idle) == Noticed:
			continue
		}
		return c, !s.path.ends(idle) || s.fates.kept
	}
}

// open makes a new connection that is in use until then.
func (s *simulation) open(until time.Duration) {
	s.opened++
	s.use(pooled{number: s.opened, since: until})
}

// ends reports whether the path has ended a connection of that idle age.
func (p Path) ends(idle time.Duration) bool { return idle >= p.Timeout }

// fates are what becomes of a call that is given a dead connection.
type fates struct {
	kept   bool          // TCP keep-alive keeps the path from forgetting
	limit  time.Duration // the client's own; 0: none
	looks  probes.Limit
	blind  Result // where it does not look first
	looked Result // where it does
	tries  int    // of the application's retry layer, the first included
	times  int    // how often the client itself sends again; 0: until it has a new connection
	renews bool   // it does so on a new connection at once
}

func fatesOf(client Client, pool Pool, path Path) fates {
	decl := pool.Client
	f := fates{
		kept: path.Silent && path.keptBy(decl.TCPKeepAlive), looks: client.ValidateAfter(decl), tries: 1,
		times: client.Retries.Times, renews: client.Retries.Renews,
	}
	if limit := client.Idle.latest(client.MaxIdle(decl, path.Advertised)); limit.Mode == probes.LimitAfter {
		f.limit = max(limit.After, 1)
	}
	decl.MaxIdle = none() // to drop it is another matter
	met := meet(decl, path.End, pool.Method, 0)
	f.blind = met.result
	f.looked = f.blind
	if f.looks.Mode == probes.LimitAfter {
		f.looked = meet(decl, path.End, pool.Method, f.looks.After).result
	}
	met.result = Failed
	if c := met.cover(); pool.Client.Retry != nil && (c == probes.CoverCovered || c == probes.CoverUnsafe) {
		f.tries = max(1, pool.Client.Retry.Attempts)
	}
	return f
}

// drops reports whether the client's own limit ends a connection of that idle age.
func (f fates) drops(idle time.Duration) bool { return f.limit > 0 && idle >= f.limit }

// of is what the client does with a dead connection of that idle age.
func (f fates) of(idle time.Duration) Result {
	if f.looks.Mode == probes.LimitAfter && idle >= f.looks.After {
		return f.looked
	}
	return f.blind
}
