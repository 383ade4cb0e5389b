// Package keeper keeps terminals alive while the host is not: a process of its own that is the
// parent of the programs and holds their ptys, so that a crash, a restart or an upgrade of the host
// loses no terminal, no byte and no exit status. It has no policy, no network and no parser.
//
// # Two processes
//
// The keeper ([Serve]) listens on a socket in its folder, which only its own user may reach, and
// serves one host at a time. It starts programs for the host and hands it their descriptors; from
// then on the host reads and writes the pty itself, and the keeper does nothing until a program
// ends. Then it collects and reports the exit status, and keeps it until the host says that it may
// be forgotten.
//
// The end of file on the socket means that the host has ended with all its threads: nobody reads
// the ptys, so the keeper does (see drain.go). What the host had read and not logged yet is in the
// [Landing]; it goes to the log first, and then the programs' further output. A host that is merely
// stopped still has its socket open and does not count as dead: its programs wait, as they do for a
// stopped terminal emulator.
//
// The next host connects, asks for a list, and takes the terminals: for each one the keeper stops
// to read and hands over the descriptors again. In this way no byte is read twice or by nobody.
//
// # The host's side
//
// A [Link] connects to the keeper and starts one where none answers; [Child] is what it starts or
// takes. If the keeper dies, the host keeps its descriptors, starts another keeper and has it adopt
// the terminals ([Link.Watch]). A keeper can collect its children's statuses; an adopted program's
// only where the system tells the holder of a pidfd.
//
// # Secrets
//
// A shell's nonce (package nonce) is handed over by the process that starts the shell. The keeper
// has it in memory, passes it to the host that takes the terminal, and seals what it reads itself.
//
// # Versions
//
// Host and keeper may be of different age, since a keeper lives as long as its terminals do. See
// [Protocol] for when they still understand each other.
package keeper
