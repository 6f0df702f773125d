package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"perch.example/lab"
)

func newLab(sys system) *cobra.Command {
	var listen, caDir string
	var options lab.Options
	cmd := &cobra.Command{
		Use: "lab [SCENARIO...]", Short: "Run the misbehaving server alone, for trying perch or any HTTP client on it",
		Long: `Without arguments it lists the scenarios. With some it serves each on a port of its own until it is
interrupted. It listens on loopback unless --listen says otherwise.`,
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS` of the first scenario; each further one takes the next port (port 0: any free ones)")
	cmd.Flags().BoolVar(&options.TLS, "tls", false, "serve over TLS what is not always so")
	cmd.Flags().StringVar(&caDir, "ca-dir", "", "write the authority of each TLS scenario to `DIR`/SCENARIO/ca.pem, for perch idle --ca-file")
	cmd.Flags().DurationVar(&options.IdleTimeout, "idle-timeout", 0, "when an idle connection is ended (0: the scenario's own, mostly 1s)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			if err := lab.Describe(sys.stdout); err != nil {
				return own(err)
			}
			return nil
		}
		if err := known(args); err != nil {
			return usage(err)
		}
		for i, name := range args {
			var err error
			options.Addr, err = nthAddress(listen, i)
			if err != nil {
				return usage(err)
			}
			server, err := lab.Start(cmd.Context(), name, options)
			if err != nil {
				return own(err)
			}
			defer func() { _ = server.Close() }() // the process ends
			fmt.Fprintf(sys.stdout, "%-24s %s%s\n", name, server.URL(), labNote(server))
			if err := writeAuthority(server, caDir, name); err != nil {
				return own(err)
			}
		}
		<-cmd.Context().Done()
		return nil
	}
	return cmd
}

// labNote says what a client needs to know beside the URL.
func labNote(server *lab.Server) string {
	switch r := server.Resolver(); {
	case r != "":
		return "  (name server " + r + ")"
	case server.Scenario().H2:
		return "  (HTTP/2 only)"
	default:
		return ""
	}
}

func writeAuthority(server *lab.Server, dir, name string) error {
	if dir == "" || server.CA() == nil {
		return nil
	}
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the lab's authority: %w", err)
	}
	_, err := server.WriteCA(dir)
	return err
}

func known(names []string) error {
	var all []string
	for _, s := range lab.Scenarios() {
		all = append(all, s.Name)
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			return fmt.Errorf("lab has no scenario %q; `perch lab` lists them", n)
		}
	}
	return nil
}

// nthAddress counts the port up, unless it is 0.
func nthAddress(listen string, n int) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("--listen %q: want HOST:PORT: %w", listen, err)
	}
	first, err := strconv.Atoi(port)
	if err != nil || first < 0 || first+n > 65535 {
		return "", fmt.Errorf("--listen %q: want a port from 0 to 65535", listen)
	}
	if first > 0 {
		first += n
	}
	return net.JoinHostPort(host, strconv.Itoa(first)), nil
}
