package kubefake

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// errCut is what a client sees when the connection ends without an answer.
var errCut = errors.New("kubefake: the connection was closed without an answer")

// Transport reaches the server without a network: its calls block on nothing
// but the server, so they run inside testing/synctest bubbles.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

// RoundTrip makes one call.
func (t transport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	defer func() {
		switch recovered := recover(); {
		case recovered == nil:
		case recovered == any(http.ErrAbortHandler):
			answer, err = nil, errors.Join(errCut, r.Context().Err())
		default:
			panic(recovered)
		}
	}()
	asked := r.Clone(r.Context())
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	defer func() { _ = asked.Body.Close() }()
	w := &recorder{header: http.Header{}, code: http.StatusOK}
	t.server.ServeHTTP(w, asked)
	return &http.Response{
		Status: http.StatusText(w.code), StatusCode: w.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// recorder keeps what a handler writes.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header               { return r.header }
func (r *recorder) WriteHeader(code int)              { r.code = code }
func (r *recorder) Write(content []byte) (int, error) { return r.body.Write(content) }

// Kubeconfig returns what makes a client find the server at url, in the
// server's namespace.
func (s *Server) Kubeconfig(url string) []byte {
	return []byte("apiVersion: v1\nkind: Config\ncurrent-context: fake\n" +
		"clusters: [{name: fake, cluster: {server: '" + url + "'}}]\n" +
		"users: [{name: fake, user: {token: not-a-secret}}]\n" +
		"contexts: [{name: fake, context: {cluster: fake, user: fake, namespace: " + s.namespace + "}}]\n")
}
