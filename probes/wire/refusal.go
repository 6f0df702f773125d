package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Refusal looks for within whether the peer takes back a handshake that is done for
// us: under TLS 1.3 a client's certificate is judged only after that, a round trip
// later. It returns how the peer ended the connection, with its own error; "" and nil:
// it has not, or ctx has ended. It returns at once when application bytes come, which
// it takes: no Exchange may follow. A peer of TLS 1.2 had its say before, and a plain
// one has none: "" at once.
func (c *Conn) Refusal(ctx context.Context, within time.Duration) (Ending, error) {
	if c.tls == nil || versionName(c.tls.ConnectionState().Version) != "1.3" {
		return "", nil
	}
	until := time.Now().Add(within)
	deadline(ctx, c.raw, until)
	c.tap.overdue = func() bool { return !time.Now().Before(until) } // perch may be the one that is slow
	cut := cutOn(ctx, c.raw)
	var first [1]byte
	n, err := c.tls.Read(first[:])
	cut.stop()
	c.tap.overdue = nil
	switch {
	case n > 0, ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
		return "", nil
	case c.tap.ended != "":
		return c.tap.ended, err
	case err == io.EOF: //nolint:errorlint // crypto/tls returns it bare
		return EndCloseNotify, err
	case remoteAlert(err):
		return EndAlert, err
	}
	return EndGarbage, err
}
