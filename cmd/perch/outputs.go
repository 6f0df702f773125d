package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// output is one report of a run: its format, and the file that it goes into; empty:
// stdout.
type output struct{ format, file string }

func runFormats() []string { return []string{"text", "json", "junit", "html"} }

// bindOutputs binds the flags of what writes a run.
func (f *outputFlags) bindOutputs(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.asked, "output", nil, "`FORMAT[=FILE]`: "+oneOf(runFormats())+" (default text), to stdout or into a file (repeatable)")
	cmd.Flags().StringVar(&f.file, "output-file", "", "write the report whose --output names no file to `FILE` instead of stdout")
	// It fails for a flag that is not there, and for one that has a completion.
	_ = cmd.RegisterFlagCompletionFunc("output", completeOutput)
}

// completeOutput offers the formats, and files behind a =.
func completeOutput(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(typed, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return runFormats(), cobra.ShellCompDirectiveNoFileComp
}

// outputsOf reads --output, as often as it was given, and --output-file. An empty
// asked is one text. Its error says what would be right.
func outputsOf(asked []string, file string) ([]output, error) {
	if len(asked) == 0 {
		asked = []string{"text"}
	}
	var all []output
	for _, a := range asked {
		o, err := readOutput(a)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	toStdout := func(o output) bool { return o.file == "" }
	first := slices.IndexFunc(all, toStdout)
	if first < 0 {
		if file != "" {
			return nil, fmt.Errorf("--output-file %q: each --output names its file already; leave it out, or give one --output no file", file)
		}
		return all, different(all)
	}
	if second := slices.IndexFunc(all[first+1:], toStdout); second >= 0 {
		again := all[first+1+second].format
		return nil, fmt.Errorf("--output %s and --output %s: only one report can be without a file; give the other one a file, such as --output %s=FILE", all[first].format, again, again)
	}
	all[first].file = file
	return all, different(all)
}

// readOutput reads one FORMAT or FORMAT=FILE.
func readOutput(asked string) (output, error) {
	format, file, named := strings.Cut(asked, "=")
	switch {
	case strings.Contains(format, ",") || named && listsMore(file):
		return output{}, fmt.Errorf("--output %q: want one format; give the flag once for each (--output text --output html=FILE); PERCH_OUTPUT can name one", asked)
	case !slices.Contains(runFormats(), format):
		return output{}, fmt.Errorf("--output %q: want %s, or one of them with a file: html=FILE", asked, oneOf(runFormats()))
	case named && file == "":
		return output{}, fmt.Errorf("--output %q: want a file behind the =, such as %s=FILE, or %s alone for stdout", asked, format, format)
	}
	return output{format, file}, nil
}

// listsMore reports whether a file's name is the beginning of a list of outputs.
func listsMore(file string) bool {
	_, rest, more := strings.Cut(file, ",")
	for ; more; _, rest, more = strings.Cut(rest, ",") {
		next, _, _ := strings.Cut(rest, ",")
		next, _, _ = strings.Cut(next, "=")
		if slices.Contains(runFormats(), strings.TrimSpace(next)) {
			return true
		}
	}
	return false
}

// different refuses two reports in one file: the second would replace the first.
func different(all []output) error {
	seen := map[string]bool{}
	for _, o := range all {
		if o.file == "" {
			continue
		}
		path, err := filepath.Abs(o.file)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		if seen[path] {
			return fmt.Errorf("--output: two reports would go into %s; give each a file of its own", o.file)
		}
		seen[path] = true
	}
	return nil
}

// stdout is the format of what goes to stdout; empty: nothing does.
func (f *outputFlags) stdout() string {
	for _, o := range f.to {
		if o.file == "" {
			return o.format
		}
	}
	return ""
}

// shows reports whether what is held may be shown on stdout, where that is a terminal.
func (f *outputFlags) shows() bool {
	if len(f.to) == 0 { // perch serve
		return f.format == "text"
	}
	return f.stdout() == "" || f.stdout() == "text"
}

// tells reports whether what a person reads beside a text may go to stdout.
func (f *outputFlags) tells() bool {
	text := slices.ContainsFunc(f.to, func(o output) bool { return o.format == "text" })
	return text && f.shows()
}

func (f *outputFlags) check() error {
	var problem error
	if f.plain {
		if !slices.Contains([]string{"text", "json"}, f.format) {
			problem = fmt.Errorf("--output %q: want text or json", f.format)
		}
	} else {
		f.to, problem = outputsOf(f.asked, f.file)
	}
	if !slices.Contains([]string{"fail", "degraded", "never"}, f.failOn) {
		problem = errors.Join(problem, fmt.Errorf("--fail-on %q: want fail, degraded or never", f.failOn))
	}
	return problem
}
