package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"perch.example/probes"
	"perch.example/report"
)

// comparePaths compares two files and ends with 1 where they differ.
func comparePaths(cmd *cobra.Command, sys system, out outputFlags, files []string) error {
	var taken [2]report.Taken
	for i, file := range files {
		f, err := readPrint(cmd.InOrStdin(), sys, file)
		if err != nil {
			return usage(fmt.Errorf("reading %s: %w", nameOf(file), err))
		}
		taken[i] = report.Taken{File: nameOf(file), Fingerprint: f}
	}
	compared, err := report.CompareFingerprints(taken[0].Fingerprint, taken[1].Fingerprint)
	if err != nil {
		return usage(fmt.Errorf("comparing %s with %s: %w", taken[0].File, taken[1].File, err))
	}
	if err := writeTo(sys, out.file, func(w io.Writer, style report.Style) error {
		if out.format == "json" {
			return report.ComparedFingerprintsJSON(w, taken[0], taken[1], compared)
		}
		return report.ComparedFingerprints(w, taken[0], taken[1], compared, style)
	}); err != nil {
		return own(err)
	}
	if compared.Differs() {
		return &exitError{code: exitFindings}
	}
	return nil
}

func nameOf(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// readPrint reads a file, or standard input, up to what a file may have.
func readPrint(stdin io.Reader, sys system, file string) (probes.Fingerprint, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(stdin, mostRead+1))
	} else {
		data, err = sys.readFile(file)
	}
	switch {
	case err != nil:
		return probes.Fingerprint{}, err
	case len(data) > mostRead:
		return probes.Fingerprint{}, fmt.Errorf("larger than %d MiB: no fingerprint is", mostRead>>20)
	}
	return report.ReadFingerprint(data)
}
