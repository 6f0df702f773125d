// Package lab is a server that misbehaves on purpose: one [Scenario] for each
// reason that an HTTP/1.1 or HTTP/2 client can meet over TCP and TLS. It knows
// nothing of perch, so that any HTTP client can be tried on it:
//
//	server, err := lab.Start(ctx, "idle_fin", lab.Options{IdleTimeout: 2 * time.Second})
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	resp, err := http.Get(server.URL() + "/calendar?days=2")
//
// A scenario is a function that plays one accepted connection to its end. It
// says what it does in bytes and in segments: a FIN leaves only after all that
// was sent has been read (the kernel turns it into an RST otherwise), an RST is
// a close with SO_LINGER 0, and silence is a socket filter that drops. HTTP/2 is
// spoken with a framer and hpack alone, so that each frame is the scenario's own.
//
// What the server received and when it ended connections is recorded
// ([Server.Requests], [Server.Closes]), so that a client's own account can be
// held against it.
package lab
