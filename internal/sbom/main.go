// Command sbom prints the software bill of materials of a Go program, as
// CycloneDX JSON. It reads what the linker wrote into the program, so it lists
// what was linked and nothing else; it needs no network, and says the same of
// the same program each time.
//
//	go run ./internal/sbom -version 0.1.0 ./perch > perch.cdx.json
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	version := flag.String("version", "", "the program's version; empty: what the program says")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: sbom [-version VERSION] PROGRAM")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *version); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	file, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(materials(info, file, version))
}
