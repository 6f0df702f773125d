package main

import (
	"fmt"
	"os"
	"path/filepath"

	"perch.example/config"
	"perch.example/k8s"
)

// callFiles reads the files of calls that a manifest ships: those whose names have no
// whole path, each once. What perch could not read in the Pod is an error here.
func callFiles(cfg config.Config) ([]config.File, error) {
	var all []config.File
	var logs callLogs
	seen := map[string]bool{}
	for _, t := range cfg.Targets {
		for _, s := range t.Probes {
			if s.Calls == "" || filepath.IsAbs(s.Calls) || seen[s.Calls] {
				continue
			}
			seen[s.Calls] = true
			data, err := logs.shipped(s.Calls)
			if err != nil {
				return nil, fmt.Errorf("%s: calls: %w", s.ID(), err)
			}
			all = append(all, config.File{Name: s.Calls, Data: data})
		}
	}
	return all, nil
}

// shipped is a file as it is, if it is one of calls and can be small enough.
func (c *callLogs) shipped(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > k8s.MostCalls {
		return nil, k8s.TooManyCalls(name, info.Size())
	}
	if _, err := c.read(name); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}
