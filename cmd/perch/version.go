package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"
)

// Stamped by the linker: -X main.version=... -X main.revision=...
var (
	version  = "" //nolint:gochecknoglobals // the linker can set nothing but a package variable
	revision = "" //nolint:gochecknoglobals // the linker can set nothing but a package variable
)

// goKnows is what Go wrote into this binary: read once, for each run says what it
// was made by.
var goKnows = sync.OnceValues(debug.ReadBuildInfo) //nolint:gochecknoglobals // it cannot change: a constant that has to be computed

// build says what this binary is. A build without stamps says what Go knows.
func build() (v, rev string) {
	v, rev = version, revision
	if info, ok := goKnows(); ok {
		if v == "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && rev == "" {
				rev = s.Value
			}
		}
	}
	if v == "" {
		v = "dev"
	}
	return v, rev
}

func newVersion(sys system) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the revision and the Go version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v, rev := build()
			if rev != "" {
				rev = " " + rev
			}
			if _, err := fmt.Fprintf(sys.stdout, "perch %s%s %s %s/%s\n", v, rev, runtime.Version(), runtime.GOOS, runtime.GOARCH); err != nil {
				return own(err)
			}
			return nil
		},
	}
}
