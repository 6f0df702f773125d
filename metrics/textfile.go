package metrics

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteTextfile writes the series for node_exporter's textfile collector, so
// that a reader sees the old file or the new one, never half of one. The name
// must end in .prom, or the collector passes it over.
func (m *Metrics) WriteTextfile(path string) error {
	if err := m.writeTextfile(path); err != nil {
		return fmt.Errorf("writing metrics to %q: %w", path, err)
	}
	return nil
}

func (m *Metrics) writeTextfile(path string) error {
	// Beside the file, for only there a rename replaces it at once. The name
	// does not end in .prom: the collector reads no half of it.
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is not there where all went well
	w := bufio.NewWriter(f)
	err = errors.Join(m.labelled.text(w), w.Flush(), f.Chmod(0o644), f.Close()) // node_exporter runs as another user
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Text writes the series in the text format, as a scrape would see them.
func (m *Metrics) Text(w io.Writer) error {
	if err := m.labelled.text(w); err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	return nil
}
