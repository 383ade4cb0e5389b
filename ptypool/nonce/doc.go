// Package nonce handles the secret with which a shell authenticates its marks (OSC 633, see package
// vt), so that no program can forge commands or their exit codes. Each shell has its own secret.
//
// # Who has it
//
// The shell, in a variable that it does not export, and the processes that read the pty: the host
// and, if there is one, the keeper, from which the next host gets it. It is in no file, no
// environment, no command line, and no descriptor that could be opened a second time. A [Grant]
// passes it to the shell: on a socket, which the shell's script reads and closes, because
// /proc/PID/fd of a socket cannot be opened. fish cannot close a descriptor, and so reads a FIFO by
// its name, which is removed as soon as the shell has opened it.
//
// The host and the keeper leave no core dump, and only root can read their memory (see
// [Undumpable]). A shell's memory is open to processes with the rights of a debugger (ptrace(2)),
// and a subshell may leave a core dump.
//
// # What is logged
//
// A terminal's log has what programs print, and programs may read it. So the process that reads the
// pty replaces the secret before any other reader gets the bytes, and before they are logged: see
// [Sealer]. A mark in the log is genuine if it ends with [Genuine], which cannot get there in any
// other way. So a host that never knew the secret can read a terminal's log, and a recording made
// of it.
//
// The alternative, a one-time token for each mark, would need a cipher in the language of each
// shell, and a counter that neither subshells nor a restart reset.
package nonce
