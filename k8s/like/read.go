package like

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const (
	// MaxInput is in bytes, more than the objects of a namespace with hundreds of Pods
	// take.
	MaxInput = 16 << 20
	// maxObjects bounds what is compared with each other.
	maxObjects = 20_000
	// maxNested bounds Lists inside Lists, which nothing makes on purpose.
	maxNested = 3
)

// read returns the objects of a v1 List, of YAML documents or of JSON values
// one after the other, in their order.
func read(raw []byte) ([]object, error) {
	if len(raw) > MaxInput {
		return nil, fmt.Errorf("%d MiB, want at most %d: collect one namespace, and only the kinds that decide a path", len(raw)>>20, MaxInput>>20)
	}
	documents, err := split(raw)
	if err != nil {
		return nil, err
	}
	var all []object
	for _, d := range documents {
		value, err := d.value()
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue // nothing between two separators
		}
		if all, err = appendObjects(all, value, d.place, 0); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no object in it; want the output of kubectl get ... -o yaml")
	}
	return all, nil
}

// document is one of the input, and where it stands.
type document struct {
	place string
	line  int // its first, from 1; 0: it is JSON
	text  []byte
}

// split cuts the input into documents. JSON values may follow each other without
// a separator, as two calls of kubectl print them.
func split(raw []byte) ([]document, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' || bytes.Contains(raw, []byte("\n---")) {
		return splitYAML(raw), nil
	}
	var all []document
	stream := json.NewDecoder(bytes.NewReader(raw))
	for {
		d := document{place: "document " + strconv.Itoa(len(all)+1)}
		var text json.RawMessage
		err := stream.Decode(&text)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil && len(all) == 0 {
			return splitYAML(raw), nil // YAML may begin with a brace, too
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.place, err)
		}
		d.text = text
		all = append(all, d)
	}
}

func splitYAML(raw []byte) []document {
	all := []document{{line: 1}}
	number := 0
	for line := range bytes.Lines(raw) {
		number++
		if rest, is := separator(line); is {
			all = append(all, document{line: number, text: rest})
			continue
		}
		last := &all[len(all)-1]
		last.text = append(last.text, line...)
	}
	for i := range all {
		all[i].place = fmt.Sprintf("document %d (from line %d)", i+1, all[i].line)
	}
	if len(all) > 1 && len(bytes.TrimSpace(all[0].text)) == 0 {
		all = all[1:]
		for i := range all {
			all[i].place = fmt.Sprintf("document %d (from line %d)", i+1, all[i].line)
		}
	}
	return all
}

// separator reports whether a line begins a YAML document, and what of the
// document stands on it.
func separator(line []byte) (rest []byte, is bool) {
	rest, is = bytes.CutPrefix(line, []byte("---"))
	if !is || (len(rest) > 0 && !bytes.ContainsAny(rest[:1], " \t\r\n")) {
		return nil, false
	}
	return bytes.Clone(rest), true
}

// value decodes a document; nil: it is empty.
func (d document) value() (any, error) {
	asJSON := d.text
	if d.line > 0 { // YAML
		var err error
		if asJSON, err = yaml.YAMLToJSON(d.text); err != nil {
			return nil, fmt.Errorf("%s: %s; is it what kubectl get ... -o yaml printed?", d.place, d.inFile(ofYAML(err)))
		}
	}
	var value any
	if err := utiljson.Unmarshal(asJSON, &value); err != nil {
		return nil, fmt.Errorf("%s: %w", d.place, err)
	}
	return value, nil
}

// ofYAML is what is wrong with a document: in the parser's words, or where they are
// Go's, as of the braces of a template, in others.
func ofYAML(err error) string {
	if text := err.Error(); !strings.Contains(text, "interface {}") {
		return text
	}
	return "a key is no text, as in a template that is not rendered"
}

// inFile makes the line that the YAML parser names one of the whole input.
func (d document) inFile(text string) string {
	return regexp.MustCompile(`line \d+`).ReplaceAllStringFunc(text, func(said string) string {
		line, err := strconv.Atoi(strings.TrimPrefix(said, "line "))
		if err != nil || d.line == 0 {
			return said
		}
		return "line " + strconv.Itoa(line+d.line-1)
	})
}

// appendObjects adds the object, or those of a list.
func appendObjects(all []object, value any, place string, nested int) ([]object, error) {
	fields, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("%s: want an object with apiVersion and kind; is it what kubectl get ... -o yaml printed?", place)
	}
	if len(all) >= maxObjects {
		return nil, fmt.Errorf("%s: more than %d objects: collect one namespace, and only the kinds that decide a path", place, maxObjects)
	}
	items, isList := fields["items"].([]any)
	kind, _ := fields["kind"].(string)
	if !strings.HasSuffix(kind, "List") || !isList {
		o, err := newObject(fields, place)
		if err != nil {
			return nil, err
		}
		return append(all, o), nil
	}
	if nested == maxNested {
		return nil, fmt.Errorf("%s: lists in lists, more than %d deep", place, maxNested)
	}
	for i, item := range items {
		at := fmt.Sprintf("%s, items[%d]", place, i)
		inherit(item, fields)
		var err error
		if all, err = appendObjects(all, item, at, nested+1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// inherit gives an item of a typed list, such as a DeploymentList as the API
// server prints it, the kind that only the list names.
func inherit(item any, list map[string]any) {
	fields, is := item.(map[string]any)
	kind, _ := list["kind"].(string)
	if !is || fields["kind"] != nil || kind == "List" {
		return
	}
	fields["kind"], fields["apiVersion"] = strings.TrimSuffix(kind, "List"), list["apiVersion"]
}

// newObject checks what everything else relies on: kind, name and metadata of
// the right types.
func newObject(fields map[string]any, place string) (object, error) {
	o := object{Unstructured: &unstructured.Unstructured{Object: fields}, place: place}
	for _, key := range []string{"apiVersion", "kind"} {
		if text, is := fields[key].(string); !is || text == "" {
			return object{}, fmt.Errorf("%s: %s: want a text, as kubectl prints it", place, key)
		}
	}
	if err := o.decode(&metadata{}, "metadata"); err != nil {
		return object{}, err
	}
	if o.GetName() == "" {
		return object{}, fmt.Errorf("%s: %s: metadata.name: want the object's name", place, o.GetKind())
	}
	return o, nil
}
