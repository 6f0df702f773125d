// Package peers holds perch against the real world: real servers with their own
// configuration files, a packet capture of the very connections, and a path
// with a long round trip. Everything is in its tests, behind the build tag
// peers, for it needs root and the packages that .ci/run installs:
//
//	go test -tags peers ./peers
//
// A missing server is a failure, never a skipped test.
//
//   - Start runs a server (Servers lists them) with a given idle timeout; a place
//     that says http2 has it speak HTTP/2.
//   - StartCapture records the segments of a server's port on loopback; its
//     Ending says when and how the server ended a connection, readGoodbye what
//     it said over HTTP/2.
//   - Delay joins two network namespaces by a path with a given round trip;
//     its Dial and Listen are to be handed to client and server.
package peers
