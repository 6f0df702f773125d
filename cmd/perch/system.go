package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"perch.example/probes/wire"
	"perch.example/report"
	"perch.example/state"
)

// system is what a command sees of the machine. Tests give their own.
type system struct {
	args     []string
	stdout   io.Writer
	stderr   io.Writer
	env      func(string) (string, bool)
	readFile func(string) ([]byte, error)
	now      func() time.Time                                    // nil: time.Now
	web      http.RoundTripper                                   // what notices and pushes go through; nil: the network
	dial     wire.DialFunc                                       // what probes dial through; nil: the network
	resolve  wire.ResolveFunc                                    // what probes ask for names; nil: the system's resolver, and none beside dial
	listen   func(network, address string) (net.Listener, error) // nil: net.Listen
	policy   *pflag.Flag                                         // --policy; nil: the command line has none
	mounted  string                                              // where a policy is that needs no flag; empty: nowhere
	user     func() string                                       // who runs the command; nil, or empty: not known
	cluster  func(name string) (state.ConfigMapConfig, error)    // how a ConfigMap is reached; nil: as the environment says
}

// clusterOf is how a ConfigMap is reached.
func (s system) clusterOf(name string) (state.ConfigMapConfig, error) {
	if s.cluster != nil {
		return s.cluster(name)
	}
	return state.Cluster(name, s.env)
}

func (s system) clock() time.Time {
	if s.now == nil {
		return time.Now()
	}
	return s.now()
}

// terminal reports whether w is a terminal, and how wide.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return width, true
}

// style is how text is written to stdout: no control codes into a pipe, and
// none where NO_COLOR is set.
func (s system) style() report.Style {
	width, ok := terminal(s.stdout)
	if v, set := s.env("COLUMNS"); set && width == 0 {
		width, _ = strconv.Atoi(v) // nonsense counts as unknown
	}
	_, noColor := s.env("NO_COLOR")
	return report.Style{Color: ok && !noColor, Width: width}
}

// userName is who runs the command, as the system knows it; empty: it does not,
// as in a Pod with a user id of its own.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
