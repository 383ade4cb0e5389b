// Package local runs commands on a host of this machine, through the host's unix socket. It does
// what ssh does for a host elsewhere, and needs no key: the socket is open to the host's user
// alone. For a host elsewhere it does so inside of a connection that the user's own ssh has made.
//
// [Dial] and [Over] connect, and [Client.Run] runs one command, on pipes or at the user's terminal,
// to its end. Five things set it apart from ssh:
//
//   - While a command has the terminal, the host tells how much of the input it has taken (package
//     sshd/wire). When the host is gone in the middle of a line, the rest of the line must not run
//     in the user's own shell. It is dropped until the user pauses, and what the host has not taken
//     is shown.
//   - The host learns the user's working directory and the configuration file that the user named.
//   - When the connection is lost, a terminal that was shown is shown again: see [Return].
//   - A signal that ends Run restores the terminal first.
//   - Over a slow line, keys may be shown before the host has echoed them: see package predict.
package local
