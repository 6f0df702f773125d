package main

import (
	"fmt"
	"io"
	"os"
)

// mostRead bounds a secret's or certificate's file: a CA bundle has a few
// hundred KiB.
const mostRead = 4 << 20

// readFile reads a secret's or certificate's file. A pipe or a device is
// refused, for reading it could wait for ever, or never end.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened: opening a pipe waits for its writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, mostRead+1))
	if err == nil && len(data) > mostRead {
		return nil, fmt.Errorf("%q is larger than 4 MiB", name)
	}
	return data, err
}
