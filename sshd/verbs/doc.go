// Package verbs is what people type behind `ssh HOST`: ls, attach, run and the rest. It reads the
// command line, calls the host's method of that name and prints what comes of it. It decides
// nothing: the host does.
//
// A verb does not know how its peer came. It runs against an [IO], which is what a program has of
// its streams, its terminal and its environment, and a [Caller], which is who the peer has proven
// to be. Package sshd makes both of an SSH session.
//
// The table of verbs is the one place where a verb's name, usage, flags and help stand. What
// `help` prints and what is said after a mistake come from it.
//
// A terminal, or a recording, is shown by package viewer, which knows nothing of verbs: see
// invocation.session.
//
// # Running a program without a terminal
//
// A peer without a terminal gets the program's pipes instead of a viewer, joined with its own
// streams: see stream. Where what is no verb runs as under sshd, a peer with a terminal gets that
// of its command byte by byte instead: see exact.
package verbs
