// Package fleet makes one of several hosts: each knows the others, and reaches them by streams.
//
// A terminal lives on one host, its owner, which alone decides about it. A host to which people log
// in, a door, carries what they want of another host there, over package bus. Nothing is copied,
// and nobody has to agree with anybody.
//
// # Who is there
//
// Package roster says which hosts there are, signed. Each host announces every few seconds that it
// is there, and each keeps in memory when it has heard of whom. One that is silent, or has said
// that it ends, is unreachable: its terminals go on, unseen. Streams to one that is silent stand
// still meanwhile, and end when it comes back as another process.
//
// # Who speaks for whom
//
// The bus and its servers are believed nothing but delivery. A stream carries SSH, in which owner
// and door prove themselves with the keys of the roster. The door names its user in an
// [Assertion], which is the user name of the SSH login: RFC 4252 section 7 has the door sign it
// together with the session's id, so that it is good for this one connection, whatever the clocks
// say. The owner takes it from hosts that are doors only, and bounds it: see package authz.
package fleet
