// Package transport carries messages, each a JSON text, between two AHP peers:
// over a WebSocket, one message per text frame ([WebSocket]), or over any byte
// stream such as a pipe or an SSH channel, one message per line ([Lines]).
//
// Both bound the length of a message and how long a peer may read no byte ([Progress], [Stall]).
// The package does not interpret messages, so that a client can use it without the server.
package transport
