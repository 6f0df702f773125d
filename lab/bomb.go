package lab

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The bomb unpacks to bombBlocks blocks of bombBlock zero bytes: 256 MiB.
const (
	bombBlock  = 64 << 10
	bombBlocks = 4096
	bombSum    = 0x2a0e7dbb // the CRC-32 of them all
)

// tooLargeGzip answers with a gzip bomb: small on the wire, large in memory.
func tooLargeGzip(c *conn, _ *http.Request) bool {
	bomb, err := packedBomb()
	if err != nil {
		return false
	}
	return c.send(head(http.StatusOK, "Content-Encoding: gzip", "Content-Length: "+strconv.Itoa(len(bomb))) + bomb)
}

// packedBomb packs one block and repeats it, so that the bomb costs next to
// nothing here: a flushed block ends on a byte and refers to nothing before it.
func packedBomb() (string, error) {
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, flate.BestCompression)
	if err != nil {
		return "", fmt.Errorf("packing zeros: %w", err)
	}
	if _, err := w.Write(make([]byte, bombBlock)); err != nil {
		return "", fmt.Errorf("packing zeros: %w", err)
	}
	if err := w.Flush(); err != nil {
		return "", fmt.Errorf("packing zeros: %w", err)
	}
	// RFC 1952: deflate, no flags, no time, unknown system; at the end an
	// empty last block, the checksum and the size.
	header := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	trailer := binary.LittleEndian.AppendUint32([]byte{0x03, 0x00}, bombSum)
	trailer = binary.LittleEndian.AppendUint32(trailer, bombBlock*bombBlocks)
	return header + strings.Repeat(block.String(), bombBlocks) + string(trailer), nil
}
