package probes

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
)

// grpcHead is what stands before each message: whether it is compressed, and its
// length in four bytes.
const grpcHead = 5

// fault is why a whole HTTP answer is no answer of gRPC's.
type fault struct {
	reason Reason
	detail string // for people; nothing of the answer's own words
}

// framed puts messages behind one another as gRPC sends them, none compressed.
func framed(messages ...[]byte) []byte {
	var out []byte
	for _, m := range messages {
		out = append(out, 0)
		out = binary.BigEndian.AppendUint32(out, uint32(len(m)))
		out = append(out, m...)
	}
	return out
}

// unframed takes the messages out of an answer's body. Encoding is the answer's
// grpc-encoding. A message is most bytes at most, also after decompression.
func unframed(body []byte, encoding string, most int64) ([][]byte, *fault) {
	var messages [][]byte
	for len(body) > 0 {
		if len(body) < grpcHead {
			return nil, &fault{ReasonBadResponse, "the answer ends within a message's head"}
		}
		compressed, length := body[0], int64(binary.BigEndian.Uint32(body[1:]))
		body = body[grpcHead:]
		switch {
		case compressed > 1:
			return nil, &fault{ReasonBadResponse, "what came is no gRPC message"}
		case length > most:
			return nil, &fault{ReasonTooLarge, "the message is larger than allowed"}
		case length > int64(len(body)):
			return nil, &fault{ReasonBadResponse, "the answer ends within a message"}
		}
		message := body[:length]
		body = body[length:]
		if compressed == 1 {
			var bad *fault
			if message, bad = unzipped(message, encoding, most); bad != nil {
				return nil, bad
			}
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// unzipped decompresses a message. perch accepts identity only, but some servers
// answer with gzip whatever was asked for.
func unzipped(message []byte, encoding string, most int64) ([]byte, *fault) {
	if encoding != "gzip" {
		return nil, &fault{ReasonBadResponse, "the message is compressed in a way that was not asked for (perch reads identity and gzip)"}
	}
	broken := &fault{ReasonBadResponse, "the message's gzip is broken"}
	z, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return nil, broken
	}
	plain, err := io.ReadAll(io.LimitReader(z, most+1))
	switch {
	case err != nil:
		return nil, broken
	case int64(len(plain)) > most:
		return nil, &fault{ReasonTooLarge, "the message is larger than allowed once it is decompressed"}
	}
	return plain, nil
}
