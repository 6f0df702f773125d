package k8s

import (
	"encoding/json"
	"path/filepath"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// mostConfig is what the API server takes as a ConfigMap's values, in bytes.
	mostConfig = 1 << 20
	// mostApplied is what `kubectl apply` can keep of an object in its annotation
	// last-applied-configuration, in bytes of JSON, with room for the metadata.
	mostApplied = 256<<10 - 2<<10
)

// configMap holds the config's files as they are.
func (b *maker) configMap() Object {
	object := &corev1.ConfigMap{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: b.meta(b.o.Name),
	}
	size := 0
	for name, text := range b.files {
		size += len(text)
		if utf8.ValidString(text) {
			set(&object.Data, name, text)
		} else { // YAML may be UTF-16
			set(&object.BinaryData, name, []byte(text))
		}
	}
	if size > mostConfig {
		b.refuse("the config has %d bytes, and a ConfigMap holds %d: split it into two configs, each with a name and a state of its own", size, mostConfig)
	}
	if applied, err := json.Marshal(object); err == nil && len(applied) > mostApplied {
		b.note("the config's ConfigMap is too large for a plain `kubectl apply` (%d bytes of JSON, 262144 are its limit): use kubectl apply --server-side", len(applied))
	}
	return object
}

// readFiles names the config's files as the ConfigMap has them.
func (b *maker) readFiles() {
	b.files = map[string]string{}
	for _, f := range b.o.Files {
		name := filepath.Base(f.Name)
		if ext := filepath.Ext(name); len(b.o.Files) == 1 && ext != ".yaml" && ext != ".yml" {
			name = "perch.yaml" // of a folder, perch reads these only; JSON is YAML
		}
		if wrong := validation.IsConfigMapKey(name); len(wrong) > 0 {
			b.refuse("the config %q: its name cannot be a key of a ConfigMap: want letters, digits, - _ and .", f.Name)
			continue
		}
		if _, twice := b.files[name]; twice {
			b.refuse("the config %q: another file is called so, too", f.Name)
		}
		b.files[name] = string(f.Data)
	}
}

func set[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
