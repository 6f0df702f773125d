// Package waiting lets tests that mostly wait do so beside each other.
package waiting

import (
	"flag"
	"runtime"
	"strconv"
)

// Beside has up to n parallel tests run at a time, where the command line does not
// say how many: Go's own number is that of the processors, which such tests leave
// idle. Call it in TestMain, once all flags are declared.
func Beside(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err) // the testing package has the flag
	}
}
