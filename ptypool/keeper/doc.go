// Package keeper keeps terminals alive while no host runs: a separate process is the parent of the
// programs and holds their ptys, so that a crash, a restart or an upgrade of the host loses no
// terminal, no byte and no exit status. It has no policy, no network and no parser.
//
// # Two processes
//
// The keeper ([Serve]) listens on a socket in its folder, which only its own user may reach, and
// serves one host at a time. It starts programs for the host and passes it their descriptors; from
// then on the host reads and writes the pty itself, and the keeper does nothing until a program
// ends. Then it collects and reports the exit status, and keeps it until the host has it forget the
// terminal.
//
// The end of file on the socket means that the host has ended with all its threads, so the keeper
// reads the ptys (see drain.go). Output that the host had read but not logged is in the [Landing],
// also that which it logs later ([Unlogged]); the keeper logs it first, and then the programs'
// further output. A host that is merely stopped (SIGSTOP) has its socket still open and does not
// count as dead: its programs wait, as they do for a stopped terminal emulator.
//
// The next host connects, lists the terminals and takes them: for each one the keeper stops reading
// and passes on the descriptors again. So every byte is read by exactly one of them.
//
// # The host's side
//
// A [Link] connects to the keeper, and starts one if none answers; a [Child] is a program that it
// has started or taken. If the keeper dies, the host still has its descriptors: it starts another
// keeper and has it adopt the terminals ([Link.Watch]). A keeper collects its children's exit
// statuses; that of an adopted program it learns only if the system reveals it to the holder of a
// pidfd.
//
// # Secrets
//
// The keeper passes a shell its nonce (package nonce) when it starts the shell. It keeps the nonce
// in memory, passes it to each host that takes the terminal, and seals the output that it reads
// itself.
//
// # Versions
//
// Host and keeper may have different versions, because a keeper lives as long as its terminals. See
// [Protocol] for which versions work together.
package keeper
