// Package host is where the store, the ptys and the policy meet. Doors authenticate and translate,
// and decide nothing.
//
// A [Host] has the terminals. A [Conn] is one connection of one principal: every verb that a door
// can ask for on behalf of its peer is a method of Conn. An [Attach] shows one terminal to an SSH
// session; a [Share] is a terminal that an SSH session feeds; [Streams] are the pipes of a program
// that an SSH session runs without a terminal.
//
// A [Terminal] is made of components, each with its own files, which begin with its name. The first
// of them has the component's data, and NAME_conn.go a connection's verbs:
//
//   - keyboard: the claim's holder, its loan, and the requests for it
//   - approvals: holds back what agents type until a person has said yes
//   - viewers: the windows that show the terminal, and its size
//   - attention: what people have seen of it, and so whom it wants
//   - waiting: what its program waits for (package idle), and the waits for its output (package
//     await)
//   - commands: its commands as its shell reports them, and the typists
//   - output: what it has printed, as it is in memory
//   - log: its journal; kept: the log of an earlier host; recorder: its recording
//
// input.go has the whole way of a key, and restart.go the whole restart.
//
// A change of a terminal is one step under that terminal's lock: authz.Check, the side effect on
// the program, the action appended to the store. So of two racing claims exactly one wins, and
// nobody types after losing the claim.
//
// # Words
//
//   - terminal: an AHP terminal, that is a channel with state, claim and executor. Its NAME is the
//     last path segment of its URI until it is renamed; see [Conn.GiveName].
//   - executor: what runs the terminal's program. "server" is this host; "client" is a connected
//     AHP client, the terminal's owner. Such a terminal is client-executed.
//   - Term: the running thing in ptypool, which is a pty with its child, the parser and the screen.
//     That of a client-executed terminal has no pty: it is virtual.
//   - claim: AHP's record of who holds a terminal, a client or an agent session. The holder is the
//     claim together with the principal that it is bound to. To seize is to take the claim without
//     having held it.
//   - loan: a claim that was taken from somebody, or given to one who asked, and goes back to that
//     one when the borrower leaves or types nothing for a while.
//   - note: what the person at a viewer is told about the claim.
//   - principal: somebody who has been authenticated, by a key or a token, with a role.
//   - guest: a principal without a key here, who has an invitation to some terminals and sees no
//     others.
//   - creator: the principal that made a terminal. The processes of a terminal carry its marker in
//     their environment, which says whose they are when they come in by the unix socket.
//   - connection: one transport, such as a WebSocket or an SSH connection, of one principal.
//   - clientId: AHP's name for a client. The client chooses it, and it belongs to the principal
//     that used it first. All SSH sessions of a key share one.
//   - door: a way into the host: sshd, WebSocket, unix socket, SSH subsystem, SSH forward.
//   - session: an agent's session in AHP (ahp-session:/...). One of SSH is always called an SSH
//     session.
//   - attach: an SSH session that shows one terminal. Its side of it is the viewer.
//   - cursor: a reader's position in a channel's log. The store has it.
//   - resynchronise: to give a reader that fell off the log the state instead of what it missed.
//   - content: what a terminal has printed, as far as it is retained. A checkpoint is a place in it
//     at which it may be cut; its preamble draws what came before.
//   - journal: what is kept of a terminal on disk, a description and a log: see package journal.
//   - recording: a file with what a terminal has shown, which outlives the terminal: see package
//     recordings. The recorder makes it.
//   - cast: what a log or a recording holds, to be played.
//   - outline: what a listing needs of a terminal: title, size, holder, last command and so on.
//   - replay: reading a terminal's log, so that screen and content become what they were.
//   - spill: to move output from memory into a file of this process's own, and read it from there.
//   - rejection: AHP's answer to an action that is refused, which goes to its sender only.
//   - origin: AHP's record of which client an action came from; nothing else.
//   - proof: the evidence of a peer's identity, such as its key. When it is withdrawn, everything
//     ends that it allowed.
//   - streams: what a program on pipes reads and writes, byte by byte, as opposed to its terminal;
//     or one on a pty that runs as under sshd.
//   - backpressure: holding a program back while the reader of its streams is behind.
//   - janitor: the goroutine that forgets exited terminals.
//   - feed: the latest events of all terminals, such as that one was made, for programs that watch
//     events rather than output.
//   - high-water mark: a serverSeq on disk that no earlier run has gone beyond.
//
// To dispose of a terminal is to end all its processes and to take it out of the host. To forget it
// is only to take it out, once it has exited.
//
// # Locks
//
// Host.mu guards the registries, and a Term's lock all that is in a [Terminal] and its attaches.
// The two are never held together: what has to be asked of the Host is asked before the Term's lock
// is taken.
//
// The other locks are short ones, and may be taken while one of those two is held: that of the
// creators, of the typists, of an [await.List], of an output rate, of the feed, of the root's list,
// of a journal, of the notes, of the recordings, of the spares, of the janitor, of the store. Of
// these, the root list's is held while the store's is taken, and a journal's while that of the
// keyframes is (see [history.Cache]); apart from that, no two of them are held together. Those of
// package admit may be taken under any of them. Proofs, which belong to the Authority, may be
// released while Host.mu is held.
package host
