package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"perch.example/probes"
)

// maxFile bounds one config file, in bytes.
const maxFile = 4 << 20

// File is a config's bytes and the name that messages give it.
type File struct {
	Name string
	Data []byte
}

// Options are what a config needs beside its files. The zero value is no
// environment, no flags, any client.
type Options struct {
	// Env looks up an environment variable; nil: there is none. PERCH_NAME and
	// PERCH_VANTAGE win over the files.
	Env func(string) (string, bool)
	// Overrides are flags that win over everything, by dotted key and written as
	// in a file: "state.file", "alerts.fire_after". Targets and defaults are set
	// in files only.
	Overrides map[string]string
	// Now tells what is over from what is to come; zero: that is not looked at.
	Now time.Time
	// Policy is what the platform team allows: what the config asks beyond it is a
	// mistake. nil: there is none.
	Policy *probes.Policy
	// NoCredentials makes a literal that is a credential a mistake, where it is a
	// warning else: for a config that is going to be read by many.
	NoCredentials bool
	// ClientKinds and ClientWrappers are the catalog's names; empty: any.
	ClientKinds, ClientWrappers []string
}

// Load reads a file, or a folder whose *.yaml and *.yml are merged in the order
// of their names: targets are joined, a setting given twice is a mistake. A
// config that is wrong gives an *Errors with every mistake; another error means
// that the files could not be read.
func Load(path string, o Options) (Config, error) {
	files, err := Files(path)
	if err != nil {
		return Config{}, err
	}
	return Parse(o, files...)
}

// MissingError says that there is no such file or folder.
type MissingError struct {
	Path string // as it was named
	Err  error  // fs.ErrNotExist
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("reading the config: there is no %s here: name yours with --config FILE or DIR, or begin with perch demo, which needs none (%v)", e.Path, e.Err)
}

func (e *MissingError) Unwrap() error { return e.Err }

// Files reads those that Load would parse, each under its path.
func Files(path string) ([]File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{Path: path, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = inFolder(path); err != nil {
			return nil, err
		}
	}
	files := make([]File, 0, len(names))
	for _, name := range names {
		data, err := readBounded(name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{name, data})
	}
	return files, nil
}

// Below returns the configs of a folder that is none itself: the folders below it,
// at any depth, that hold a *.yaml. Of a file, or a folder that is a config, it
// returns that alone; of a folder with none in it, nothing. Links to folders are
// not followed, and names that begin with a dot are left out.
func Below(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	if _, err := inFolder(path); err == nil {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	var all []string
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, err := Below(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

// inFolder lists a folder's configs. Names that begin with a dot are left out:
// a mounted ConfigMap keeps its versions in such.
func inFolder(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	var names []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		names = append(names, filepath.Join(path, e.Name()))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("reading the config: %q holds no *.yaml", path)
	}
	return names, nil
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("reading the config: %q is larger than 4 MiB", name)
	}
	return data, nil
}

// Parse is Load for bytes that are there already: the same checks, the same
// errors. A file's name stands in its messages.
func Parse(o Options, files ...File) (Config, error) {
	c := newChecker(o)
	trees := make([]tree, 0, len(files))
	for _, f := range files {
		t, ok := c.parse(f)
		if !ok {
			c.broken[f.Name] = true
			continue
		}
		trees = append(trees, t)
	}
	joined := c.join(trees)
	c.whole(files)
	if c.full {
		return Config{}, &Errors{ordered(c.mistakes)}
	}
	s, err := merge(c.root, levels(joined), c.environment(), c.flags())
	if err != nil {
		return Config{}, err
	}
	out := c.build(s)
	out.Policy = c.options.Policy
	if len(c.mistakes) > 0 {
		return Config{}, &Errors{ordered(c.mistakes)}
	}
	for _, w := range ordered(c.warnings) {
		out.Warnings = append(out.Warnings, w.String())
	}
	return out, nil
}

// tree is one file's checked values.
type tree struct {
	file   string
	values map[string]any
}

// parse reads one file's only document and checks it against the table.
func (c *checker) parse(f File) (tree, bool) {
	at := place{file: f.Name}
	data := f.Data
	if json.Valid(data) {
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" ")) // JSON may be indented by tabs, YAML not
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, extra yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		c.wrong(at, "is empty", c.example)
		return tree{}, false
	case err != nil:
		c.syntax(at, data, err)
		return tree{}, false
	}
	switch err := decoder.Decode(&extra); {
	case err == nil:
		at.line = extra.Line
		c.wrong(at, "holds a second document (---), which would be ignored", "put it into a file of its own")
	case !errors.Is(err, io.EOF):
		c.syntax(at, data, err)
	}
	top := doc.Content[0]
	at.line = top.Line
	c.nodes = 0
	got, ok := c.walk(top, &c.root, at)
	if !ok {
		return tree{}, false
	}
	return tree{f.Name, got.(map[string]any)}, true
}

// join puts files together: targets are joined, any other setting is given in
// one file only.
func (c *checker) join(trees []tree) map[string]any {
	all := map[string]any{}
	from := map[string]string{}
	var targets []any
	for _, t := range trees {
		for _, key := range slices.Sorted(maps.Keys(t.values)) {
			if key == "targets" {
				targets = append(targets, t.values[key].([]any)...)
				continue
			}
			if first, twice := from[key]; twice && key != "version" {
				c.wrong(c.at(place{file: t.file}, key), "is given in "+first+" already", "keep one: only targets are joined")
				continue
			}
			from[key], all[key] = t.file, t.values[key]
		}
	}
	if targets != nil {
		all["targets"] = targets
	}
	return all
}

// whole checks what the files must hold together.
func (c *checker) whole(files []File) {
	at := place{file: "config"}
	if len(files) > 0 {
		at.file = files[0].Name
	}
	if !c.written(files, "version") {
		c.wrong(at, `"version" is missing`, "want version: 1")
	}
	if !c.written(files, "targets") {
		c.wrong(at, `"targets" is missing`, "want a list: name, url and probes behind each dash")
	}
}

// written reports whether a file has the key, or is so broken that it may.
func (c *checker) written(files []File, key string) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		_, there := c.lines[f.Name+"\x00"+key]
		return there || c.broken[f.Name]
	})
}
