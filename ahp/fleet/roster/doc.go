// Package roster says which hosts a fleet has, and keeps what a host knows of its fleet on disk.
//
// A [Roster] lists the hosts with their keys. The host that has made the fleet signs it, with a key
// that never leaves that host, and every other host has been given the public half when it joined:
// so a roster is believed whoever brings it, a newer one instead of an older one.
//
// A host's key is an NKEY, that is, Ed25519. It proves the host to the fleet's NATS server, and in
// SSH, within a stream, to the other hosts.
package roster
