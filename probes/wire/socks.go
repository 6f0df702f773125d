package wire

import (
	"context"
	"errors"
	"net"
	"strings"

	"golang.org/x/net/proxy"
)

// askSOCKS asks for a connection to the target: by name, unless it is an address.
func (p *Proxy) askSOCKS(conn net.Conn, target string) error {
	var auth *proxy.Auth
	if p.User != "" {
		auth = &proxy.Auth{User: p.User, Password: p.Password}
	}
	dialer, err := proxy.SOCKS5("tcp", p.String(), auth, opened{conn})
	if err != nil {
		return err
	}
	if _, err = dialer.Dial("tcp", target); err == nil {
		return nil
	}
	var op *net.OpError // what the package puts around it names both ends, as we do
	if errors.As(err, &op) && op.Op == "socks connect" {
		err = op.Err
	}
	if final := finalSOCKS(err.Error()); final {
		return &refusal{ProxyAnswer{Final: true}, p.answered(err).Error()}
	}
	return p.answered(err)
}

// answered words what the proxy answered.
func (p *Proxy) answered(err error) error {
	switch text := err.Error(); {
	case text == "no acceptable authentication methods":
		return errors.New("it wants credentials of a kind that it was not given: see proxy_credentials")
	case text == "username/password authentication failed":
		return errors.New(p.notAccepted())
	case strings.HasPrefix(text, "unknown error "):
		return errors.New("it answered: " + strings.TrimPrefix(text, "unknown error "))
	case strings.HasPrefix(text, "unexpected protocol version"), strings.HasPrefix(text, "unknown address type"), text == "non-zero reserved field":
		return errors.New("what it answered is no SOCKS")
	default:
		return err
	}
}

// opened is the connection that stands already, for a client that dials.
type opened struct{ conn net.Conn }

func (o opened) Dial(string, string) (net.Conn, error) { return o.conn, nil }

func (o opened) DialContext(context.Context, string, string) (net.Conn, error) { return o.conn, nil }
