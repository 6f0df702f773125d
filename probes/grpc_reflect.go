package probes

import "google.golang.org/protobuf/encoding/protowire"

// reflectionPaths returns the method of server reflection in its versions, the
// newest first. Both speak the same messages.
func reflectionPaths() []string {
	return []string{
		"grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
		"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
	}
}

// Fields of a ServerReflectionRequest and its answer.
const (
	askFileByName    = 3
	askFileOfSymbol  = 4
	answerFiles      = 4
	answerError      = 7
	filesDescriptors = 1
	errorsCode       = 1
)

// askFor is one ServerReflectionRequest.
func askFor(field protowire.Number, name string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), name)
}

// reflected is one ServerReflectionResponse.
type reflected struct {
	files [][]byte // FileDescriptorProtos
	code  int      // of an error; 0: none
}

// reflectedIn reads an answer. False: it is none.
func reflectedIn(message []byte) (out reflected, ok bool) {
	ok = eachField(message, func(number protowire.Number, data []byte, _ uint64) bool {
		switch number {
		case answerFiles:
			return eachField(data, func(number protowire.Number, file []byte, _ uint64) bool {
				if number == filesDescriptors && file != nil {
					out.files = append(out.files, file)
				}
				return true
			})
		case answerError:
			out.code = codeUnknown
			return eachField(data, func(number protowire.Number, data []byte, code uint64) bool {
				if number == errorsCode && data == nil && code > 0 && code < 1<<31 {
					out.code = int(code)
				}
				return true
			})
		default:
			return true
		}
	})
	return out, ok
}

// eachField calls yield with the fields of a message: with the bytes of one that
// has a length (never nil then), or the value of a varint. False: it is no
// message, or yield says so.
func eachField(message []byte, yield func(number protowire.Number, data []byte, value uint64) bool) bool {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		message = message[n:]
		var data []byte
		var value uint64
		switch kind {
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(message)
			data = append([]byte{}, data...)
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 || !yield(number, data, value) {
			return false
		}
		message = message[n:]
	}
	return true
}
