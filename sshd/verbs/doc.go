// Package verbs is what people type behind `ssh HOST`: ls, attach, run and the rest. It reads the
// command line, calls a method of the host and prints the result. It decides nothing: the host
// does.
//
// A verb does not know how its peer is connected. It runs against an [IO], the peer's streams,
// terminal and environment, and a [Caller], the peer's identity. Package sshd makes both from an
// SSH session.
//
// The table of verbs is the one place for a verb's name, usage, flags and help. `help`, and the
// messages after a mistake, are made from it. Those of attach, which is also a command where no
// host runs, are in package helptext.
//
// Package viewer, which knows nothing of verbs, shows terminals and recordings: see
// invocation.session.
//
// # Running a program without a terminal
//
// A peer without a terminal gets the program's pipes instead of a viewer, joined with its own
// streams: see stream. Where a command that is no verb runs as under sshd, a peer with a terminal
// gets its output byte by byte instead: see exact.
package verbs
