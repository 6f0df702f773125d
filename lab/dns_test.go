package lab

import (
	"bytes"
	"testing"
)

// FuzzNameReply: whatever is asked, a reply repeats the question's bytes, is a
// response and holds no record.
func FuzzNameReply(f *testing.F) {
	f.Add([]byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x07nowhere\x07invalid\x00\x00\x01\x00\x01\x00\x00\x29"))
	f.Add([]byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xff"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, query []byte) {
		reply := nameReply(query, answerNXDomain)
		if reply == nil {
			return
		}
		if len(reply) > len(query) || !bytes.Equal(reply[:2], query[:2]) || !bytes.Equal(reply[dnsHeader:], query[dnsHeader:len(reply)]) {
			t.Errorf("%x answers %x", reply, query)
		}
		if reply[2]&0x80 == 0 || reply[3]&0x0f != answerNXDomain || !bytes.Equal(reply[4:dnsHeader], []byte{0, 1, 0, 0, 0, 0, 0, 0}) {
			t.Errorf("header %x", reply[:dnsHeader])
		}
	})
}
