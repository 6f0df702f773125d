package probes

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// stockSet describes shop.Stock: List is unary, Watch is a stream.
func stockSet(t testing.TB) *descriptorpb.FileDescriptorSet {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	err := prototext.Unmarshal([]byte(`
file {
  name: "shop/stock.proto" package: "shop" syntax: "proto3"
  dependency: "shop/item.proto" dependency: "google/protobuf/timestamp.proto" dependency: "google/api/annotations.proto"
  message_type {
    name: "ListRequest"
    field { name: "sku" json_name: "sku" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "limit" json_name: "limit" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "since" json_name: "since" number: 3 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL }
  }
  message_type {
    name: "ListReply"
    field { name: "items" json_name: "items" number: 1 type: TYPE_MESSAGE type_name: ".shop.Item" label: LABEL_REPEATED }
    field { name: "total_count" json_name: "totalCount" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL }
    field { name: "more" json_name: "more" number: 3 type: TYPE_BOOL label: LABEL_OPTIONAL }
  }
  service {
    name: "Stock"
    method { name: "List" input_type: ".shop.ListRequest" output_type: ".shop.ListReply" }
    method { name: "Get" input_type: ".shop.ListRequest" output_type: ".shop.Item" }
    method { name: "Watch" input_type: ".shop.ListRequest" output_type: ".shop.Item" server_streaming: true }
  }
}
file {
  name: "shop/item.proto" package: "shop" syntax: "proto3"
  message_type { name: "Item" field { name: "sku" json_name: "sku" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL } }
}`), set)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func marshaled(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func stockMethod(t testing.TB, name string) (*described, error) {
	t.Helper()
	files, err := filesOfSet(marshaled(t, stockSet(t)))
	if err != nil {
		t.Fatal(err)
	}
	return describedIn(files, name)
}

func TestMethodThere(t *testing.T) {
	d, err := stockMethod(t, "shop.Stock/List")
	if err != nil {
		t.Fatal(err)
	}
	request, err := d.request([]byte(`{"sku": "a-7", "limit": 3}`))
	if want := "\x0a\x03a-7\x10\x03"; err != nil || string(request) != want {
		t.Errorf("request: %q, %v, want %q", request, err, want)
	}
	if request, err := d.request(nil); err != nil || len(request) != 0 {
		t.Errorf("an empty request: %q, %v", request, err)
	}
	item := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "a-7")
	answer := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), item)
	text, bad := d.answer(answer)
	if want := `{"items":[{"sku":"a-7"}],"totalCount":"0","more":false}`; bad != nil || string(text) != want {
		t.Errorf("answer: %s, %v, want %s", text, bad, want)
	}
	if _, bad := d.answer([]byte{255}); bad == nil || bad.reason != ReasonBadResponse {
		t.Errorf("a broken answer: %v, want bad_response", bad)
	}
}

func TestMethodNotThere(t *testing.T) {
	for name, want := range map[string]string{
		"shop.Stock/Watch": "grpc.method shop.Stock/Watch is a streaming method, and perch calls unary methods only; unary are Get, List",
		"shop.Stock/Lst":   "grpc.method shop.Stock/Lst: shop.Stock has no method Lst; it has Get, List",
		"shop.Stok/List":   "grpc.method shop.Stok/List: its descriptors have no service shop.Stok",
		"shop.Item/List":   "grpc.method shop.Item/List: its descriptors have no service shop.Item",
	} {
		_, err := stockMethod(t, name)
		var m *misfit
		if !errors.As(err, &m) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestRequestMisfits(t *testing.T) {
	d, err := stockMethod(t, "shop.Stock/List")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"skuu": "hunter2"}`:             "(line 1:2): there is no such field",
		`{"limit": "hunter2"}`:            "the value is of another kind",
		`{"sku": "hunter2", "sku": "b"}`:  "the field stands there twice",
		`["hunter2"]`:                     "it is not the JSON of such a message",
		`{"sku": "hunter2"`:               "it is not the JSON of such a message",
		`{"since": "hunter2"}`:            "the value is of another kind",
		"{\"sku\": \"a\",\n \"hunter2\"}": "it is not the JSON of such a message",
	} {
		_, err := d.request([]byte(text))
		var m *misfit
		if !errors.As(err, &m) || !strings.HasSuffix(err.Error(), want) || !strings.HasPrefix(err.Error(), "grpc.request is no shop.ListRequest: ") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the request is shown: %v", err)
		}
	}
}

func TestIncompleteSet(t *testing.T) {
	set := stockSet(t)
	set.File = set.File[:1]
	files, err := filesOfSet(marshaled(t, set))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = describedIn(files, "shop.Stock/List"); err == nil || !strings.Contains(err.Error(), "the type of shop.ListReply.items is missing") {
		t.Errorf("%v, want what is missing", err)
	}
	set = stockSet(t)
	set.File[0].MessageType[1].Field = set.File[0].MessageType[1].Field[1:] // then only Get needs an Item
	set.File = set.File[:1]
	if files, err = filesOfSet(marshaled(t, set)); err != nil {
		t.Fatal(err)
	}
	if _, err = describedIn(files, "shop.Stock/Get"); err == nil || !strings.Contains(err.Error(), "the type of shop.Stock.Get is missing") {
		t.Errorf("%v, want what is missing", err)
	}
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("syntax = \"proto3\";"), "garbage": {255, 255}} {
		if _, err := filesOfSet(data); err == nil || !strings.Contains(err.Error(), "--include_imports") {
			t.Errorf("%s: %v, want how to write one", name, err)
		}
	}
}

func FuzzDescriptorSet(f *testing.F) {
	whole := marshaled(f, stockSet(f))
	f.Add(whole, []byte(`{"sku":"a"}`), []byte("\x0a\x03a-7"))
	f.Add(whole[:len(whole)-40], []byte(`{}`), []byte{255})
	f.Fuzz(func(_ *testing.T, set, request, answer []byte) {
		files, err := filesOfSet(set)
		if err != nil {
			return
		}
		for _, name := range []string{"shop.Stock/List", "shop.Stock/Get"} {
			if d, err := describedIn(files, name); err == nil {
				_, _ = d.request(request)
				_, _ = d.answer(answer)
			}
		}
	})
}

func TestReflectedIn(t *testing.T) {
	files := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("one"))
	files = protowire.AppendBytes(protowire.AppendTag(files, 1, protowire.BytesType), nil)
	message := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), files)
	got, ok := reflectedIn(message)
	if !ok || len(got.files) != 2 || string(got.files[0]) != "one" || got.code != 0 {
		t.Errorf("files: %+v, %v", got, ok)
	}
	failed := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 5)
	got, ok = reflectedIn(protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), failed))
	if !ok || got.code != codeNotFound || got.files != nil {
		t.Errorf("an error: %+v, %v", got, ok)
	}
	if got, ok = reflectedIn(protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), nil)); !ok || got.code != codeUnknown {
		t.Errorf("an error without a code: %+v, %v", got, ok)
	}
	if _, ok := reflectedIn([]byte{255}); ok {
		t.Error("garbage is an answer")
	}
}

func TestHealthMessages(t *testing.T) {
	if got := healthRequest("shop.Stock"); string(got) != "\x0a\x0ashop.Stock" {
		t.Errorf("request: %q", got)
	}
	for message, want := range map[string]string{"": "UNKNOWN", "\x08\x01": "SERVING", "\x08\x02": "NOT_SERVING", "\x08\x03": "SERVICE_UNKNOWN", "\x12\x01x\x08\x01": "SERVING"} {
		if got, ok := healthStatus([]byte(message)); !ok || got != want {
			t.Errorf("%q: %s, %v, want %s", message, got, ok, want)
		}
	}
	for _, message := range []string{"\x08", "\x08\x09", "\xff"} {
		if got, ok := healthStatus([]byte(message)); ok {
			t.Errorf("%q: %s, want none", message, got)
		}
	}
}

// Names in descriptors may be a hostile server's: errors stay short.
func TestNamesOfDescriptorsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	set := stockSet(t)
	service := set.GetFile()[0].GetService()[0]
	for i := range 20 {
		m := proto.CloneOf(service.GetMethod()[0])
		m.Name = proto.String(long + string(rune('a'+i)))
		service.Method = append(service.GetMethod(), m)
	}
	lacks := proto.CloneOf(set)
	field := lacks.GetFile()[0].GetMessageType()[0].GetField()[2]
	field.Name, field.TypeName = proto.String(long), proto.String(".gone.Type")
	lacks.GetFile()[0].Dependency = append(lacks.GetFile()[0].GetDependency(), "gone.proto")
	input := stockSet(t)
	for _, m := range input.GetFile()[0].GetMessageType() {
		if m.GetName() == "ListRequest" {
			m.Name = proto.String(long)
		}
	}
	for _, m := range input.GetFile()[0].GetService()[0].GetMethod() {
		m.InputType = proto.String(".shop." + long)
	}
	for name, from := range map[string]*descriptorpb.FileDescriptorSet{"shop.Stock/Lst": set, "shop.Stock/Watch": set, "shop.Stock/List": lacks, "shop.Stock/Get": input} {
		files, err := filesOfSet(marshaled(t, from))
		if err != nil {
			t.Fatal(err)
		}
		d, err := describedIn(files, name)
		if err == nil {
			_, err = d.request([]byte(`{"none": 1}`))
		}
		if err == nil || len(err.Error()) > 2000 || !strings.Contains(err.Error(), "grpc.") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
