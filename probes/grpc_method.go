package probes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"perch.example/probes/wire"
)

// described is a unary method and the types that its messages may hold.
type described struct {
	method protoreflect.MethodDescriptor
	types  typeResolver
}

// misfit is an error of what the config asks for, found only at run time: it is
// not the target's fault, and nothing is sent.
type misfit struct {
	what   string
	absent bool // a method that is not there, by its descriptors
}

func (m *misfit) Error() string { return m.what }

func misfits(format string, args ...any) error { return &misfit{what: fmt.Sprintf(format, args...)} }

func absent(format string, args ...any) error { return &misfit{fmt.Sprintf(format, args...), true} }

// describedIn finds "package.Service/Method" in files. Its error is a *misfit.
func describedIn(files *protoregistry.Files, name string) (*described, error) {
	service, method, _ := strings.Cut(name, "/")
	d, err := files.FindDescriptorByName(protoreflect.FullName(service))
	s, is := d.(protoreflect.ServiceDescriptor)
	if err != nil || !is {
		return nil, absent("grpc.method %s: its descriptors have no service %s", name, service)
	}
	m := s.Methods().ByName(protoreflect.Name(method))
	switch {
	case m == nil:
		return nil, absent("grpc.method %s: %s has no method %s; it has %s", name, service, method, methodsOf(s))
	case m.IsStreamingClient() || m.IsStreamingServer():
		return nil, misfits("grpc.method %s is a streaming method, and perch calls unary methods only; unary are %s", name, methodsOf(s))
	}
	if at := lacking(files); at != "" {
		return nil, misfits("grpc.method %s: its descriptors are not complete: the type of %s is missing", name, at)
	}
	return &described{method: m, types: typesOf(files)}, nil
}

// longestWord bounds a name that stands in descriptors: a server may have written them,
// and errors go to logs, notices and reports.
const longestWord = 100

func nameOf(d protoreflect.Descriptor) string { return wire.Printable(string(d.Name()), longestWord) }

func fullNameOf(d protoreflect.Descriptor) string {
	return wire.Printable(string(d.FullName()), longestWord)
}

// methodsOf lists the unary methods of a service, the first ten.
func methodsOf(s protoreflect.ServiceDescriptor) string {
	var names []string
	for i := range s.Methods().Len() {
		if m := s.Methods().Get(i); !m.IsStreamingClient() && !m.IsStreamingServer() && len(names) < 10 {
			names = append(names, nameOf(m))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// lacking returns the first field or method whose type stands in a file that is
// not there; empty: all types are there.
func lacking(files *protoregistry.Files) (at string) {
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if at = lackingIn(f.Messages()); at == "" {
			at = lackingOf(f.Services())
		}
		return at == ""
	})
	return at
}

func lackingOf(services protoreflect.ServiceDescriptors) string {
	for i := range services.Len() {
		for k := range services.Get(i).Methods().Len() {
			if m := services.Get(i).Methods().Get(k); m.Input().IsPlaceholder() || m.Output().IsPlaceholder() {
				return fullNameOf(m)
			}
		}
	}
	return ""
}

func lackingIn(messages protoreflect.MessageDescriptors) string {
	for i := range messages.Len() {
		m := messages.Get(i)
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			if f.Message() != nil && f.Message().IsPlaceholder() || f.Enum() != nil && f.Enum().IsPlaceholder() {
				return fullNameOf(f)
			}
		}
		if field := lackingIn(m.Messages()); field != "" {
			return field
		}
	}
	return ""
}

// request turns the config's JSON into the method's message. Its error is a
// *misfit, without a value of the JSON's in it.
func (d *described) request(text []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(d.method.Input())
	if len(text) > 0 {
		if err := (protojson.UnmarshalOptions{Resolver: d.types}).Unmarshal(text, m); err != nil {
			return nil, misfits("grpc.request is no %s: %s", fullNameOf(d.method.Input()), slip(err))
		}
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, misfits("grpc.request is no whole %s: a required field is missing", fullNameOf(d.method.Input()))
	}
	return data, nil
}

// slip says what is wrong with JSON, and where, in words that hold nothing of it.
func slip(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	where := ""
	if from := strings.Index(text, "(line "); from >= 0 {
		if to := strings.IndexByte(text[from:], ')'); to > 0 {
			where = text[from:from+to+1] + ": "
		}
	}
	switch {
	case strings.Contains(text, "unknown field"):
		return where + "there is no such field"
	case strings.Contains(text, "invalid value"), strings.Contains(text, "invalid google.protobuf."):
		return where + "the value is of another kind"
	case strings.Contains(text, "duplicate"), strings.Contains(text, "already set"):
		return where + "the field stands there twice"
	case strings.Contains(text, "required field"):
		return "a required field is missing"
	}
	return where + "it is not the JSON of such a message"
}

// answer turns an answer's message into JSON, on one line, with the fields that
// have their default value in it: expectations need no has() for those.
func (d *described) answer(message []byte) ([]byte, *fault) {
	m := dynamicpb.NewMessage(d.method.Output())
	if (proto.UnmarshalOptions{Resolver: d.types}).Unmarshal(message, m) != nil {
		return nil, d.unreadable()
	}
	text, err := protojson.MarshalOptions{Resolver: d.types, EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, d.unreadable()
	}
	var one bytes.Buffer
	if json.Compact(&one, text) != nil { // protojson's spaces change from build to build
		return nil, d.unreadable()
	}
	return one.Bytes(), nil
}

func (d *described) unreadable() *fault {
	return &fault{ReasonBadResponse, "the message cannot be read as a " + fullNameOf(d.method.Output())}
}

// types finds what a message may hold: first among the method's own files, then
// among what is known to perch.
type types struct{ own *dynamicpb.Types }

func typesOf(files *protoregistry.Files) typeResolver { return types{dynamicpb.NewTypes(files)} }

// FindMessageByName is part of protobuf's resolver.
func (t types) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if m, err := t.own.FindMessageByName(name); !errors.Is(err, protoregistry.NotFound) {
		return m, err
	}
	return protoregistry.GlobalTypes.FindMessageByName(name)
}

// FindMessageByURL is part of protobuf's resolver.
func (t types) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return t.FindMessageByName(protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:]))
}

// FindExtensionByName is part of protobuf's resolver.
func (t types) FindExtensionByName(name protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return t.own.FindExtensionByName(name)
}

// FindExtensionByNumber is part of protobuf's resolver.
func (t types) FindExtensionByNumber(message protoreflect.FullName, number protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return t.own.FindExtensionByNumber(message, number)
}
