// Package keeper keeps terminals alive while the host is not: a process of its own that is the
// parent of the programs and holds their ptys, so that a crash, a restart or an upgrade of the host
// loses no terminal, no byte and no exit status. It has no policy, no network and no parser.
//
// # Two processes
//
// The keeper ([Serve]) listens on a socket in its folder, which only its own user may reach, and
// serves one host at a time. It starts programs for the host and hands it their descriptors; from
// then on the host reads and writes the pty itself, and the keeper does nothing until a program
// ends. Then it collects the exit status and tells it, and keeps it until the host has said that it
// may be forgotten.
//
// The end of file on the socket says that the host has ended, the last of its threads included: so
// nobody reads the ptys any more, and the keeper does (see drain.go). What the host had read and
// not logged yet is in the [Landing]; it goes to the log first, and then what the programs print
// from now on. A host that is merely stopped still has its socket open and is not taken for dead:
// its programs wait, as they do for a stopped terminal emulator.
//
// The next host connects, asks for a list, and takes the terminals: for each one the keeper stops
// to read and hands over the descriptors again. In this way no byte is read twice or by nobody.
//
// # The host's side
//
// A [Link] connects to the keeper and starts one where none answers; [Child] is what it starts
// or takes. If the keeper dies the host goes on with the descriptors it has, starts another keeper
// and has that adopt the terminals ([Link.Watch]). A keeper is told how its children end; of an
// adopted program it learns that only where the system tells whoever has a pidfd.
//
// # Secrets
//
// A shell's nonce (package nonce) is handed over by whoever starts the shell. The keeper remembers
// it in its memory, tells it to the host that takes the terminal, and seals what it reads itself.
//
// # Versions
//
// Host and keeper may be of different age, since a keeper lives as long as its terminals do. See
// [Protocol] for when they still understand each other.
package keeper
