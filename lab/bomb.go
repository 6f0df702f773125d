package lab

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
)

// The bomb unpacks to bombBlocks blocks of bombBlock zero bytes: 256 MiB.
const (
	bombBlock  = 1 << 20
	bombBlocks = 256
)

// tooLargeGzip answers with a gzip bomb: small on the wire, large in memory.
func tooLargeGzip(c *conn, _ *http.Request) bool {
	block, err := packedZeros()
	if err != nil {
		return false
	}
	// The header of RFC 1952: deflate, no flags, no time, unknown system.
	header := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	trailer := bombTrailer()
	size := len(header) + bombBlocks*len(block) + len(trailer)
	ok := c.send(head(http.StatusOK, "Content-Encoding: gzip", "Content-Length: "+strconv.Itoa(size)) + header)
	for range bombBlocks {
		ok = ok && c.send(block)
	}
	return ok && c.send(trailer)
}

// packedZeros is one block, deflated. It ends on a byte and refers to nothing
// before it, so it can be repeated: the bomb needs no memory here.
func packedZeros() (string, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", fmt.Errorf("packing zeros: %w", err)
	}
	if _, err := w.Write(make([]byte, bombBlock)); err != nil {
		return "", fmt.Errorf("packing zeros: %w", err)
	}
	if err := w.Flush(); err != nil {
		return "", fmt.Errorf("packing zeros: %w", err)
	}
	return packed.String(), nil
}

// bombTrailer is an empty last block, the checksum and the size.
func bombTrailer() string {
	zeros := make([]byte, bombBlock)
	sum := uint32(0)
	for range bombBlocks {
		sum = crc32.Update(sum, crc32.IEEETable, zeros)
	}
	trailer := binary.LittleEndian.AppendUint32([]byte{0x03, 0x00}, sum)
	return string(binary.LittleEndian.AppendUint32(trailer, bombBlock*bombBlocks))
}
