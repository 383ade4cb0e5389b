// Package ws is the HTTP door: AHP over WebSocket, health and metrics, on three
// kinds of connection. A TCP peer (with or without TLS) proves who it is with a
// token. A peer of the unix socket is known by its user id and process. A peer
// behind an SSH port forward is known by the SSH connection that carries it.
//
// Who comes in is decided before the upgrade: the Host and Origin headers
// against exact lists (a page of another site, or of a name that was rebound to
// loopback, gets 403), then the credentials (401). After it, everything is
// package rpc's. Tokens end their connections when they do.
//
// Nothing here logs a URL, since tokens may stand in them.
package ws
