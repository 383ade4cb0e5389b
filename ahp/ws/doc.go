// Package ws is the HTTP door: AHP over WebSocket, health, metrics and further [Route]s. It listens
// in three ways. On TCP, with or without TLS, a peer sends a token. On the unix socket, the kernel
// identifies the peer's user and process. Through an SSH port forward, the peer is the owner of the
// SSH connection.
//
// All checks come before a request is answered or upgraded. The Host and Origin headers are
// compared with exact lists, so that a web page of another site, or one whose name was rebound to a
// loopback address, gets 403. Then the path chooses a route, and bad or missing credentials get 401
// where the route needs any. A connection that a token authenticates ends with the token.
//
// A TCP peer that is a process inside one of the host's terminals keeps what its token is worth,
// and counts as an agent ([Peer.Inside]). It is looked up once for a connection, when it has shown
// a good token.
//
// # A host proves itself
//
// A peer that offers the subprotocol "termhost.nonce.NONCE" is told by the first message on the
// WebSocket that it talks to this host, and to no other program that has got its port: the JSON-RPC
// notification termhost/proof {signature}. NONCE is 16 bytes or more in unpadded base64url, which
// the peer makes anew for each connection. The signature is ECDSA with SHA-256 on P-256, as r and s
// in unpadded base64url, of these lines with a line feed between them: "termhost host"; the Origin
// header; the challenge that the peer itself has signed in the subprotocol "termhost.proof.";
// NONCE; "101 ". A challenge or Origin that was not sent is an empty line. The public key comes
// with the answer to a ticket (package page), and with the ticket a hash of it. So it costs no
// round trip, and passes through any proxy that passes WebSockets.
//
// This is against a program that has the port while the host is down or elsewhere, and cannot reach
// the host. One that passes everything on to the host and back is a proxy, which reads and may
// change what passes: only TLS or SSH is against that.
//
// URLs are never logged, because they may contain tokens.
package ws
