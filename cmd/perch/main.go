// Command perch holds connections idle, reuses them as an application would,
// and says what broke.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // a scratch image has no zone data
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, system{
		args: os.Args[1:], stdout: os.Stdout, stderr: os.Stderr,
		env: os.LookupEnv, readFile: os.ReadFile,
	})
	stop()
	os.Exit(code)
}
