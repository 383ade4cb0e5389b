// Package sshd is the SSH door: it proves who a peer is, and translates what an
// SSH client asks for into the host's verbs. It decides nothing.
//
// # What is built on what
//
// charm.land/ssh serves a connection: handshake, time-out, recovery. There is
// one ssh.Server per connection, so that what is known of the connection is in
// the fields of a conn and not in a context that handlers share. Of the parts
// that come with it these are not used: the session handler (it waits for ever
// for whoever reads window changes, keeps what it is sent without a bound, and
// ends with the connection instead of the channel), its pty emulation (it
// rewrites line ends), its forwarding and its agent support.
//
// # Identity
//
// Who a peer is comes from the key whose signature was verified
// (gossh.ServerConfig.VerifiedPublicKeyCallback), and from nothing else. The
// callback for keys that a client merely asks about remembers nothing.
//
// # Life of a connection
//
// A TCP connection passes the gate (startups, penalties, limits), then the
// handshake with its time-out. A verified key seats it as a host.Conn. From then
// on it ends when the peer closes it, when it answers no keepalive, or when the
// host.Conn's context or the key's grant ends; then each of its SSH sessions is
// shown why before the connection is closed.
//
// An SSH session has one goroutine that answers its requests and never waits
// for anything else, one that reads what is typed, and one that writes. A peer
// that takes no byte for a minute is told and closed; nobody waits for it.
package sshd
