// Package calls reads when an application made its calls: a list of times, or an access
// log. What else a log says is neither kept nor shown: it may hold secrets.
package calls

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"perch.example/diagnose/clients"
)

const (
	// Most is how many calls are kept of a file: the last ones.
	Most = 1_000_000
	// longestLine bounds a line: of a longer one the beginning is read.
	longestLine = 64 << 10
)

// Log is what a file says of an application's calls.
type Log struct {
	Calls   []clients.Call // by time, since the first; Took is negative where a line does not say it, or the call failed
	First   time.Time      // when the first one was made
	Lines   int            // of the file
	Blank   int            // lines that are empty, or comments
	Skipped int            // lines that were not understood: they say no call
	Bad     int            // the first of those, from 1; 0: there is none
	Dropped int            // calls that were left out, since there are more than Most
	NoUnit  int            // calls that say how long they took in a unit that is not sure: their Took is negative
	Failed  int            // calls that the server itself did not answer, though they say how long they took: their Took is negative
	Took    time.Duration  // how long a call took, in the median of those that say it; negative: none does
	Spread  bool           // the times are whole seconds: calls of one second are spread evenly over it
}

// made is one call as its line says it.
type made struct {
	at     int64         // ns since 1970
	took   time.Duration // negative: not known
	ends   bool          // the time is that of the answer
	noUnit bool          // it is said how long it took, in a unit that is not sure
	failed bool          // the server itself did not answer
}

// holds is for how long an answer to such a call holds its connection, negative where it is not
// known: one that failed at once on a dead connection took a millisecond, and says nothing of that.
func (m made) holds() time.Duration {
	if m.failed {
		return -1
	}
	return m.took
}

// compare orders calls by time, and those of one instant by all else that is known of them, so that the
// order of the lines decides nothing.
func (m made) compare(other made) int {
	return cmp.Or(cmp.Compare(m.at, other.at), cmp.Compare(m.took, other.took),
		soLast(m.failed, other.failed), soLast(m.ends, other.ends))
}

// soLast orders what is so behind what is not.
func soLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Read reads a file of any length. Each line is one call, in any of these forms, the file's
// first call deciding which one:
//   - a time: RFC 3339 or seconds since 1970, and after a space or a comma how long the call took,
//     in seconds or as a duration such as 120ms, and behind that "failed" where it did;
//   - an access log in common or combined format, of Envoy, HAProxy or an AWS load balancer;
//   - JSON, an object a line, with the usual names of such fields.
//
// How long a call took is read only where its unit is sure. A time of an answer is moved back by
// it. Where a line says that the server itself did not answer, it is used for nothing else. A file
// of which most lines say no call is refused. name is the file's, for errors, which say the line,
// and nothing of what it holds.
func Read(r io.Reader, name string) (Log, error) {
	read := reading{log: Log{}, name: name}
	lines := bufio.NewReaderSize(r, longestLine)
	for {
		line, err := nextLine(lines)
		if len(line) > 0 || err == nil {
			read.log.Lines++
			if wrong := read.line(line); wrong != nil {
				return Log{}, wrong
			}
		}
		if errors.Is(err, io.EOF) {
			return read.done()
		}
		if err != nil {
			return Log{}, fmt.Errorf("%s:%d: %w", name, read.log.Lines+1, err)
		}
	}
}

// nextLine is a line without its end, or as much of it as is looked at.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return trimmed(line), err
	}
	kept := slices.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return trimmed(kept), err
}

func trimmed(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// wanted are the forms, for errors.
const wanted = "RFC 3339 or seconds since 1970, an access log in a usual format, or JSON with a field such as time"

// reading is a file being read.
type reading struct {
	log   Log
	name  string
	form  form
	first int    // the line of the first call, which says the form
	kept  []made // a ring once it is full
	next  int    // in the ring
	fine  bool   // a time that is no whole second was seen
}

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\xef\xbb\xbf"

// line takes in one line.
func (r *reading) line(line []byte) error {
	text := string(line)
	if r.log.Lines == 1 {
		text = strings.TrimPrefix(text, byteOrderMark)
	}
	if blank(text) {
		r.log.Blank++
		return nil
	}
	if r.form == nil {
		r.form, r.first = formOf(text), r.log.Lines
	}
	if r.form != nil {
		if m, understood := r.form.read(text); understood {
			r.fine = r.fine || m.at%int64(time.Second) != 0
			r.keep(m)
			return nil
		}
	}
	if r.log.Skipped++; r.log.Bad == 0 || r.log.Bad < r.first { // the first may be a table's head
		r.log.Bad = r.log.Lines
	}
	if r.form == nil && r.log.Skipped > 1 {
		return fmt.Errorf("%s:%d: no time of a call: want %s; what the line holds is not shown", r.name, r.log.Lines, wanted)
	}
	return nil
}

// keep adds a call; of too many it forgets the first.
func (r *reading) keep(m made) {
	if len(r.kept) < Most {
		r.kept = append(r.kept, m)
		return
	}
	r.kept[r.next] = m
	r.next = (r.next + 1) % Most
	r.log.Dropped++
}

// done puts the calls in order.
func (r *reading) done() (Log, error) {
	switch {
	case len(r.kept) == 0:
		return Log{}, fmt.Errorf("%s: no call in %d lines: want one a line, %s", r.name, r.log.Lines, wanted)
	case r.log.Skipped > len(r.kept)+r.log.Dropped:
		return Log{}, fmt.Errorf("%s:%d: no time of a call: want %s, as on line %d; %d of %d lines are like this one; what they hold is not shown",
			r.name, r.log.Bad, r.form.says(), r.first, r.log.Skipped, r.log.Lines)
	}
	slices.SortFunc(r.kept, made.compare)
	if !r.fine {
		r.log.Spread = spread(r.kept)
	}
	for i := range r.kept {
		if r.kept[i].ends {
			r.kept[i].at -= int64(max(0, r.kept[i].took))
		}
	}
	slices.SortFunc(r.kept, made.compare)
	r.log.count(r.kept)
	first := r.kept[0].at
	r.log.First = time.Unix(0, first).UTC()
	r.log.Calls = make([]clients.Call, 0, len(r.kept))
	for _, m := range r.kept {
		r.log.Calls = append(r.log.Calls, clients.Call{At: time.Duration(m.at - first), Took: m.holds()})
	}
	return r.log, nil
}

// count says how long a call took in the median, how many say it in a unit that is not
// sure, and of how many it is not used since they failed.
func (l *Log) count(all []made) {
	var known []time.Duration
	for _, m := range all {
		switch {
		case m.failed:
			if m.took >= 0 || m.noUnit {
				l.Failed++
			}
		case m.took >= 0:
			known = append(known, m.took)
		case m.noUnit:
			l.NoUnit++
		}
	}
	l.Took = -1
	if len(known) > 0 {
		slices.Sort(known)
		l.Took = known[len(known)/2]
	}
}

// spread moves the calls of one second evenly over it, and reports whether any second has several.
func spread(all []made) bool {
	several := false
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].at == all[i].at {
			j++
		}
		n := int64(j - i)
		several = several || n > 1
		for k := range n {
			all[i+int(k)].at += k * int64(time.Second) / n
		}
		i = j
	}
	return several
}
