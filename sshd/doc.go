// Package sshd is the SSH door: it proves a peer's identity, and hands requests to package verbs
// (commands and files), package rpc (the subsystem "ahp") and the HTTP door (forwards to ahp:80).
// Forwards of ports, sockets and agents it carries itself. Package authz decides permissions; the
// Policy says which of these exist at all.
//
// # What is built on what
//
// charm.land/ssh serves a connection: handshake, time-out, recovery. Each connection has an
// ssh.Server of its own, so that what is known of the connection is in the fields of a conn and not
// in a context that handlers share. These parts of charm.land/ssh are not used:
//
//   - its session handler, which hangs while nobody reads window changes, keeps what it is sent
//     without a bound, and ends with the connection instead of the channel;
//   - its pty emulation, which rewrites line ends;
//   - its forwarding and its agent support.
//
// # Identity
//
// Who a peer is comes from the key whose signature was verified
// (gossh.ServerConfig.VerifiedPublicKeyCallback), and from nothing else. The callback for keys that
// a client merely asks about remembers nothing. SSH inside of SSH, which termhost's own client
// speaks in the subsystem ssh, is the peer of the connection around it.
//
// # Life of a connection
//
// A TCP connection passes the gate (admit.Gate: startups, penalties), then the handshake with its
// time-out. A verified key makes it a host.Conn of the key's principal; if the peer turns out to be
// a process inside one of the host's terminals (host.Inside), it counts as an agent. From then on
// it ends when the peer closes it, when the peer answers no keepalive, or when the host.Conn's
// context or the key's grant ends; then each of its SSH sessions is shown why before the connection
// is closed.
//
// An SSH session has one goroutine that answers its requests and never waits for anything else, and
// others that run what was asked for: see package verbs. A connection that takes no byte for a
// minute is closed.
package sshd
