package probes

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

const (
	// mostDescriptors bounds the descriptors of one method, in bytes: built, they
	// take several times as much.
	mostDescriptors = 4 << 20
	// mostFiles bounds how many files they may come from.
	mostFiles = 500
)

// protoFiles collects the files that describe a method, each once.
type protoFiles struct {
	known map[string]*descriptorpb.FileDescriptorProto
	bytes int
}

func notDescriptors() error { return errors.New("what should be a descriptor is none") }

// add takes a FileDescriptorProto as it came.
func (p *protoFiles) add(data []byte) error {
	var f descriptorpb.FileDescriptorProto
	if proto.Unmarshal(data, &f) != nil || f.GetName() == "" {
		return notDescriptors()
	}
	return p.take(&f, len(data))
}

func (p *protoFiles) take(f *descriptorpb.FileDescriptorProto, size int) error {
	if p.known == nil {
		p.known = map[string]*descriptorpb.FileDescriptorProto{}
	}
	if p.known[f.GetName()] == nil {
		p.known[f.GetName()] = f
		p.bytes += size
	}
	if p.bytes > mostDescriptors || len(p.known) > mostFiles {
		return fmt.Errorf("the descriptors are larger than %d MiB, or of more than %d files", mostDescriptors>>20, mostFiles)
	}
	return nil
}

// missing returns the imports that are not there, after adding those that every
// protobuf library brings along.
func (p *protoFiles) missing() ([]string, error) {
	var missing []string
	for _, f := range sortedFiles(p.known) {
		for _, name := range f.GetDependency() {
			if p.known[name] != nil {
				continue
			}
			common, err := protoregistry.GlobalFiles.FindFileByPath(name)
			if err != nil {
				missing = append(missing, name)
				continue
			}
			if err := p.take(protodesc.ToFileDescriptorProto(common), 0); err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

// sortedFiles is in the order of their names, so that the same files are built the
// same way.
func sortedFiles(known map[string]*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto {
	var files []*descriptorpb.FileDescriptorProto
	for _, name := range slices.Sorted(maps.Keys(known)) {
		files = append(files, known[name])
	}
	return files
}

// build makes one registry of the files. Imports that are missing are let pass:
// most serve options only, and what a message needs is looked at in describedIn.
func (p *protoFiles) build() (*protoregistry.Files, error) {
	files, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(&descriptorpb.FileDescriptorSet{File: sortedFiles(p.known)})
	if err != nil {
		return nil, notDescriptors()
	}
	return files, nil
}

// suffice reports whether the type of each message's fields is there, although
// imports are missing: those that describe HTTP or documents serve nobody here.
func (p *protoFiles) suffice() bool {
	files, err := p.build()
	return err == nil && lacking(files) == ""
}

// filesOfSet reads a FileDescriptorSet, as protoc --include_imports and buf build
// write it.
func filesOfSet(data []byte) (*protoregistry.Files, error) {
	var set descriptorpb.FileDescriptorSet
	if proto.Unmarshal(data, &set) != nil || len(set.GetFile()) == 0 {
		return nil, errors.New("it is no FileDescriptorSet; write one with protoc --include_imports --descriptor_set_out")
	}
	var p protoFiles
	for _, f := range set.GetFile() {
		if err := p.take(f, proto.Size(f)); err != nil {
			return nil, err
		}
	}
	if _, err := p.missing(); err != nil {
		return nil, err
	}
	return p.build()
}
