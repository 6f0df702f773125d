package k8s

import (
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/util/validation"
)

// MostCalls is what the config's ConfigMap takes of files of calls, in bytes, all
// together.
const MostCalls = 512 << 10

// readCalls adds the files of calls to those of the ConfigMap, beside the config.
func (b *maker) readCalls() {
	var size int64
	for _, f := range b.o.Calls {
		size += int64(len(f.Data))
		name := path.Clean(f.Name)
		ext := path.Ext(name)
		switch _, twice := b.files[name]; {
		case name != path.Base(name) || len(validation.IsConfigMapKey(name)) > 0:
			b.refuse("calls: %s: it goes into a ConfigMap, beside the config: want the name of a file there alone, of letters, digits, - _ and ., such as calls.txt", f.Name)
		case ext == ".yaml" || ext == ".yml":
			b.refuse("calls: %s: beside the config perch would read it as one; want another ending, such as .txt", f.Name)
		case twice:
			b.refuse("calls: %s: another file is called so, too", f.Name)
		}
		b.files[name] = string(f.Data)
	}
	if size > MostCalls {
		b.refused = append(b.refused, TooManyCalls("the files of calls", size))
	}
}

// TooManyCalls is the error about what has no room in the ConfigMap. size is in bytes.
func TooManyCalls(what string, size int64) error {
	return fmt.Errorf("%s: %d bytes, and beside the config there is room for %d: keep the newest calls alone (tail -n 5000 FILE), "+
		"or mount it yourself and write calls with its whole path, such as /data/calls.txt", what, size, MostCalls)
}

// callFiles are the files of calls that the Pod has to have by another way.
func (b *maker) callFiles() []string {
	found := map[string]bool{}
	for _, t := range b.cfg.Targets {
		for _, s := range t.Probes {
			if path.IsAbs(s.Calls) {
				found[s.Calls] = true
			}
		}
	}
	return sortedKeys(found)
}

// workingDir is where the Pod looks for the files of calls that stand beside the
// config; empty: there are none.
func (b *maker) workingDir() string {
	if len(b.o.Calls) == 0 {
		return ""
	}
	return configFolder
}
