// Package nonce is about the secret with which a shell vouches for its marks (OSC 633, see package
// vt), so that no program can tell of commands that never ran or how they ended. Each shell has a
// secret of its own.
//
// # Who has it
//
// The shell, in a variable that it does not export; and whoever reads the pty: the host and, where
// there is one, the keeper, from which the next host gets it. It is in no file, no environment, no
// command line, and no descriptor that could be opened a second time. A [Grant] hands it to the
// shell: on a socket, which the shell's script reads and closes, because /proc/PID/fd of a socket
// cannot be opened. fish cannot close a descriptor, and so reads a FIFO by its name, which is
// removed as soon as the shell has opened it.
//
// The host and the keeper leave no core dump and let only root look into them (see [Undumpable]). A
// shell's memory is open to whoever has the rights of a debugger (ptrace(2)); that includes a core
// dump of a subshell.
//
// # What is logged
//
// A terminal's log holds what programs print, and programs may read it. So whoever reads the pty
// puts something else in the secret's place before anybody else sees the bytes, and before they get
// into the log: see [Sealer]. A mark in the log is genuine if it ends with [Genuine], which cannot
// get there in another way. So the log of a terminal, and a recording made of it, can be read by a
// host that never knew the secret.
//
// The other way, a token for each mark that is worthless once it is spent, needs a cipher in the
// language of each shell, and a counter that neither subshells nor a restart put back.
package nonce
