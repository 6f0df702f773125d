package wire_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	encoding "encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/net/http2"

	"perch.example/probes"
)

// sealer writes TLS 1.3 records as the server, which crypto/tls never asks for new
// keys.
type sealer struct {
	t      *testing.T
	suite  uint16
	secret []byte
	seq    uint64
}

// sealerOf takes the server's secret from a key log.
func sealerOf(t *testing.T, log string, suite uint16) *sealer {
	_, rest, found := strings.Cut(log, "SERVER_TRAFFIC_SECRET_0 ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		t.Error("the key log has no secret of the server's")
		return nil
	}
	secret, err := encoding.DecodeString(fields[1])
	if err != nil || len(secret) != sha256.Size {
		t.Errorf("a secret of %d bytes, want SHA-256's: %v", len(secret), err)
		return nil
	}
	return &sealer{t: t, suite: suite, secret: secret}
}

// derive is HKDF-Expand-Label.
func (s *sealer) derive(label string, size int) []byte {
	label = "tls13 " + label
	info := append([]byte{0, byte(size), byte(len(label))}, label...)
	out, err := hkdf.Expand(sha256.New, s.secret, string(append(info, 0)), size)
	if err != nil {
		s.t.Error(err)
	}
	return out
}

// aead is of the suite that Go's server takes: ChaCha where AES has no hardware.
func (s *sealer) aead() (cipher.AEAD, error) {
	if s.suite == tls.TLS_CHACHA20_POLY1305_SHA256 {
		return chacha20poly1305.New(s.derive("key", chacha20poly1305.KeySize))
	}
	block, err := aes.NewCipher(s.derive("key", 16))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// record seals one record of that type.
func (s *sealer) record(kind byte, plain []byte) []byte {
	aead, err := s.aead()
	if err != nil {
		s.t.Error(err)
		return nil
	}
	nonce := s.derive("iv", 12)
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], s.seq)
	for i, b := range count {
		nonce[4+i] ^= b
	}
	s.seq++
	inner := append(bytes.Clone(plain), kind)
	head := binary.BigEndian.AppendUint16([]byte{23, 3, 3}, uint16(len(inner)+aead.Overhead()))
	return aead.Seal(bytes.Clone(head), nonce, inner, head)
}

// newKeys asks the client for new keys, and takes new ones.
func (s *sealer) newKeys() []byte {
	out := s.record(22, []byte{24, 0, 0, 1, 1})
	s.secret, s.seq = s.derive("traffic upd", sha256.Size), 0
	return out
}

// A server that asks for new keys is answered before the request, whatever the
// hold's deadline, and a GOAWAY behind it is seen.
func TestH2NewKeysInTheHold(t *testing.T) {
	for name, away := range map[string]bool{"then a request": false, "then GOAWAY": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := flavors(t)
			f := all[slices.IndexFunc(all, func(f flavor) bool { return f.name == "tls13" })]
			var keys bytes.Buffer
			server := f.server.Clone()
			server.KeyLogWriter, server.SessionTicketsDisabled = &keys, true
			s := serveH2(t, server, func(h *h2peer) {
				own := sealerOf(t, keys.String(), h.Conn.(*tls.Conn).ConnectionState().CipherSuite)
				if own == nil {
					return
				}
				say := func(records ...[]byte) { _, _ = h.raw.Write(bytes.Join(records, nil)) }
				framed := func() []byte {
					defer h.out.Reset()
					return own.record(23, h.out.Bytes())
				}
				_ = h.WriteSettings()
				first := framed()
				asked := own.newKeys()
				if away {
					h.away(0, http2.ErrCodeNo, "max_idle")
				} else {
					h.ping()
				}
				say(first, asked, framed())
				h.did()
				h.stream = 1
				for { // crypto/tls reads, and takes the client's new keys
					switch f, err := h.ReadFrame(); f.(type) {
					case *http2.MetaHeadersFrame:
						h.heads(true, ":status", "200")
						say(framed())
					default:
						if err != nil {
							return
						}
					}
				}
			})
			c, p := s.openH2(f.client)
			held := heldUntil(t, c, p.acted)
			if away != (held.Close != nil && held.Close.State == "goaway") {
				t.Errorf("held: %+v %+v", held, held.Close)
			}
			_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			if away {
				mustBe(t, e, probes.ReasonIdleGoaway)
			} else {
				mustBe(t, e, probes.ReasonOK)
			}
		})
	}
}
