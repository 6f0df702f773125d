// Command perch holds connections idle, reuses them as an application would,
// and says what broke.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // a scratch image has no zone data
)

// collectAt trades a little CPU, of which a canary has plenty, for memory,
// which is counted in each Pod: 200 targets took 35 MiB at Go's 100, 32 at 50.
const collectAt = 50

func main() {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(collectAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends perch at once
	code := execute(ctx, system{
		args: os.Args[1:], stdout: os.Stdout, stderr: os.Stderr,
		env: os.LookupEnv, readFile: readFile, user: userName, mounted: mountedPolicy,
	})
	stop()
	os.Exit(code)
}
