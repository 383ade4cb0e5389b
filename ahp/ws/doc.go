// Package ws is the HTTP door: AHP over WebSocket, health, metrics and what else
// a [Route] adds. It listens in three ways. On TCP, with or without TLS, a peer
// shows a token. On the unix socket, the kernel says which user and process the
// peer is. Through an SSH port forward, the peer is whoever owns the SSH
// connection that carries it.
//
// All checks come before a request is answered or upgraded. The Host and Origin
// headers are compared with exact lists, so that a web page of another site, or
// one whose name was rebound to a loopback address, gets 403. Then the path
// chooses a route, and bad or missing credentials get 401 where the route needs
// any. A connection that was let in by a token ends when the token does.
//
// URLs are never logged, because they may contain tokens.
package ws
